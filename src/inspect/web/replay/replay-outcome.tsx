import type { VNode } from 'preact';
import { ReceivedText } from '../text/received-text.tsx';
import { sentence } from '../text/sentence.ts';
import { shownDuration } from '../text/shown-time.ts';
import type { Outcome } from './use-replay.ts';

/** A live region, so it is there before it says anything. */
export function ReplayOutcome({ outcome }: { outcome: Outcome | null }): VNode {
  return (
    <div role="status" class="replay-outcome">
      {outcome === null ? null : outcome.problem !== null ? (
        <p class="notice is-rejected">
          {sentence(outcome.problem.message)}{' '}
          {outcome.problem.hint !== undefined && sentence(outcome.problem.hint)}
        </p>
      ) : (
        <p class={`notice ${outcome.replayed.ok ? 'is-accepted' : 'is-rejected'}`}>
          <strong>{outcome.replayed.ok ? 'Taken' : 'Not taken'}</strong>{' '}
          <ReceivedText text={outcome.replayed.answer} /> in {shownDuration(outcome.replayed.durationMs)}
          {outcome.replayed.leadId !== null && (
            <>
              , as <ReceivedText text={outcome.replayed.leadId} />
            </>
          )}
          .{outcome.replayed.settled !== null && ' The lead is not outstanding any more.'}
        </p>
      )}
    </div>
  );
}
