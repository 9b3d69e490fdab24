import type { VNode } from 'preact';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';

/** The live region, and the message that stays for a moment. */
export function Messages(): VNode {
  const { announcer } = useModel();
  const spoken = useValue(announcer.spoken);
  const message = useValue(announcer.message);
  return (
    <>
      <p class="only-spoken" role="status" aria-live="polite">
        {spoken}
      </p>
      {message !== null && (
        <p class="message" aria-hidden="true">
          {message}
        </p>
      )}
    </>
  );
}
