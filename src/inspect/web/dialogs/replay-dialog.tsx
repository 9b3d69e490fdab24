import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { WireDelivery, WireReplay, WireReplayed, WireTarget } from '../../wire.ts';
import { type Problem, problemOf } from '../api-client/problem.ts';
import { useModel } from '../state/page-model.ts';
import { deliveryTitle, sentence, shownDuration } from '../text/format.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { withNamedCharacters } from '../text/text-parts.ts';
import { Dialog } from './dialog.tsx';

export function ReplayDialog({ delivery }: { delivery: WireDelivery }): VNode {
  const { targets } = useModel().inbox;
  const [chosen, setChosen] = useState(targets[0]);
  const { outcome, isSending, send } = useReplay(delivery);
  const obstacle =
    targets.length === 0 ? noTargets : delivery.notReplayable && sentence(delivery.notReplayable);
  if (obstacle !== null || chosen === undefined) {
    return (
      <Dialog title="This delivery cannot be replayed">
        <p>{obstacle}</p>
      </Dialog>
    );
  }
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isSending) void send(chosen.name);
  };
  return (
    <Dialog title="Replay">
      <form class="replay" onSubmit={submit}>
        <p>
          Sends the stored body of{' '}
          <strong>
            <ReceivedText text={delivery.leadId ?? `delivery ${delivery.seq}`} />
          </strong>{' '}
          once more.
        </p>
        <TargetChoice targets={targets} chosen={chosen} onChoose={setChosen} />
        <ReplayOutcome outcome={outcome} />
        <div class="dialog-actions">
          <button type="submit" class="button primary" aria-disabled={isSending} data-focus-first>
            {isSending ? 'Sending…' : outcome === null ? 'Send' : 'Send again'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const noTargets = (
  <>
    No target was named when the program was started. Start it with <code>--replay-to URL</code>, such as{' '}
    <code>--replay-to http://127.0.0.1:3000/webhook</code>.
  </>
);

interface TargetChoiceProps {
  readonly targets: readonly WireTarget[];
  readonly chosen: WireTarget;
  readonly onChoose: (target: WireTarget) => void;
}

const TargetChoice = ({ targets, chosen, onChoose }: TargetChoiceProps): VNode => (
  <fieldset class="options">
    <legend>{targets.length === 1 ? 'Target' : 'Choose a target'}</legend>
    {targets.map((target) => (
      <label key={target.name} class="option">
        <input type="radio" name="target" checked={target === chosen} onChange={() => onChoose(target)} />
        <span class="option-name">
          <ReceivedText text={target.name} />
        </span>
        <span class="option-note">{target.scheme === null ? 'unsigned' : `signed: ${target.scheme}`}</span>
      </label>
    ))}
  </fieldset>
);

type Outcome = WireReplayed | Problem;

/** A live region, so it is there before it says anything. */
const ReplayOutcome = ({ outcome }: { outcome: Outcome | null }): VNode => (
  <div role="status" class="replay-outcome">
    {outcome !== null && (
      <p class={`notice ${'ok' in outcome && outcome.ok ? 'is-accepted' : 'is-rejected'}`}>
        {'ok' in outcome ? (
          <>
            <strong>{outcome.ok ? 'Taken' : 'Not taken'}</strong> <ReceivedText text={outcome.answer} /> in{' '}
            {shownDuration(outcome.durationMs)}.
            {outcome.settled !== null && ' The lead does not wait for it any more.'}
          </>
        ) : (
          `${sentence(outcome.message)} ${outcome.hint === undefined ? '' : sentence(outcome.hint)}`
        )}
      </p>
    )}
  </div>
);

const outcomeText = (outcome: Outcome): string =>
  'ok' in outcome
    ? `${outcome.ok ? 'taken' : 'not taken'}, ${outcome.answer} in ${shownDuration(outcome.durationMs)}.`
    : sentence(outcome.message);

/** One at a time; the delivery that is shown is read again after it. Its end is said also where the dialog was closed. */
function useReplay({ seq, name, leadId }: WireDelivery) {
  const title = deliveryTitle({ seq, name, leadId });
  const model = useModel();
  const isOpen = useRef(true);
  useEffect(() => () => void (isOpen.current = false), []);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [isSending, setSending] = useState(false);
  const send = async (target: string): Promise<void> => {
    setSending(true);
    const request: WireReplay = { seq, target };
    const result = await model.api.post<WireReplayed>('/api/replays', request).catch(problemOf);
    setOutcome(result);
    setSending(false);
    if (!isOpen.current)
      model.announcer.show(withNamedCharacters(`Replay of ${title}: ${outcomeText(result)}`));
    model.version.value++;
  };
  return { outcome, isSending, send };
}
