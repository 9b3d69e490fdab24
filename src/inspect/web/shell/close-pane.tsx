import type { VNode } from 'preact';
import { closePane } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';

/** An arrow where the pane covers the list, a cross where it stands beside it. */
export function ClosePane(): VNode {
  const model = useModel();
  return (
    <button
      type="button"
      class="button quiet close-pane"
      aria-label="Back"
      title="Back (Esc)"
      onClick={() => closePane(model)}
    >
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
        <path class="back" d="M9.5 3.5 5 8l4.5 4.5" />
        <path class="close" d="m4 4 8 8m0-8-8 8" />
      </svg>
    </button>
  );
}
