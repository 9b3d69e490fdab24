import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { WireDelivery, WireReplay, WireReplayed, WireTarget } from '../../wire.ts';
import { type Problem, problemOf } from '../api-client/problem.ts';
import { useModel } from '../state/page-model.ts';
import { deliveryTitle, sentence, shownDuration } from '../text/format.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { withNamedCharacters } from '../text/text-parts.ts';
import { Dialog, Option, Options } from './dialog.tsx';

export function ReplayDialog({ delivery }: { delivery: WireDelivery }): VNode {
  const { inbox } = useModel();
  const [body, setBody] = useState<string | null>(null);
  const targets = inbox.targets.filter(({ isLocal }) => body === null || isLocal);
  const [chosen, setChosen] = useState(inbox.targets[0]?.name ?? null);
  const target = targets.find(({ name }) => name === chosen) ?? targets[0] ?? null;
  const { outcome, isSending, send, forget } = useReplay(delivery);
  const obstacle =
    inbox.targets.length === 0 ? noTargets : delivery.notReplayable && sentence(delivery.notReplayable);
  if (obstacle !== null) {
    return (
      <Dialog title="This delivery cannot be replayed">
        <p>{obstacle}</p>
      </Dialog>
    );
  }
  const edit = (next: string | null): void => {
    forget();
    setBody(next);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (target !== null && !isSending) void send(target.name, body);
  };
  return (
    <Dialog title="Replay">
      <form class="replay" onSubmit={submit}>
        <p>
          Sends {body === null ? 'the stored body of' : 'an edited copy of'}{' '}
          <strong>
            <ReceivedText text={delivery.leadId ?? `delivery ${delivery.seq}`} />
          </strong>{' '}
          once more{body === null ? '' : ', under a new id'}.
        </p>
        <TargetChoice targets={targets} chosen={target} onChoose={setChosen} />
        <BodyEditor delivery={delivery} body={body} onChange={edit} />
        <ReplayOutcome outcome={outcome} />
        <div class="dialog-actions">
          <button
            type="submit"
            class="button primary"
            disabled={target === null}
            aria-disabled={isSending}
            data-focus-first
          >
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
  readonly chosen: WireTarget | null;
  readonly onChoose: (name: string) => void;
}

function TargetChoice({ targets, chosen, onChoose }: TargetChoiceProps): VNode {
  if (targets.length === 0) {
    return <p class="notice">An edited delivery is sent to this machine only, and no target is on it.</p>;
  }
  return (
    <Options title={targets.length === 1 ? 'Target' : 'Choose a target'}>
      {targets.map((target) => (
        <Option
          key={target.name}
          of="target"
          isChosen={target === chosen}
          onChoose={() => onChoose(target.name)}
        >
          <span class="option-name">
            <ReceivedText text={target.name} />
          </span>
          <span class="option-note">{target.scheme === null ? 'unsigned' : `signed: ${target.scheme}`}</span>
        </Option>
      ))}
    </Options>
  );
}

interface BodyEditorProps {
  readonly delivery: WireDelivery;
  /** Null: the stored bytes are sent. */
  readonly body: string | null;
  readonly onChange: (body: string | null) => void;
}

function BodyEditor({ delivery, body, onChange }: BodyEditorProps): VNode {
  const { text, isCut, hasInvalidText, missing, formatted } = delivery;
  if (isCut || hasInvalidText || missing !== null) {
    return (
      <p class="note">The body cannot be edited here: the page does not have all of its bytes as text.</p>
    );
  }
  return (
    <div class="body-editor">
      <label class="check">
        <input
          type="checkbox"
          checked={body !== null}
          onChange={({ currentTarget }) => onChange(currentTarget.checked ? (formatted ?? text) : null)}
        />
        Edit the body first
      </label>
      {body !== null && (
        <textarea
          class="text-area"
          rows={12}
          spellcheck={false}
          aria-label="Body"
          value={body}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </div>
  );
}

/** A live region, so it is there before it says anything. */
function ReplayOutcome({ outcome }: { outcome: Outcome | null }): VNode {
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

type Outcome =
  | { readonly replayed: WireReplayed; readonly problem: null }
  | { readonly replayed: null; readonly problem: Problem };

const outcomeText = ({ replayed, problem }: Outcome): string =>
  problem !== null
    ? sentence(problem.message)
    : `${replayed.ok ? 'taken' : 'not taken'}, ${replayed.answer} in ${shownDuration(replayed.durationMs)}.`;

/** One at a time; the delivery that is shown is read again after it. Its end is said also where the dialog was closed. */
function useReplay({ seq, name, leadId }: WireDelivery) {
  const title = deliveryTitle({ seq, name, leadId });
  const model = useModel();
  const isOpen = useRef(true);
  useEffect(() => () => void (isOpen.current = false), []);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [isSending, setSending] = useState(false);
  const send = async (target: string, body: string | null): Promise<void> => {
    setSending(true);
    let ended: Outcome;
    try {
      const request: WireReplay = { seq, target, ...(body !== null && { body }) };
      ended = { replayed: await model.api.post<WireReplayed>('/api/replays', request), problem: null };
    } catch (error) {
      ended = { replayed: null, problem: problemOf(error) };
    }
    setOutcome(ended);
    setSending(false);
    if (!isOpen.current)
      model.announcer.show(withNamedCharacters(`Replay of ${title}: ${outcomeText(ended)}`));
    model.version.value++;
  };
  return { outcome, isSending, forget: () => setOutcome(null), send };
}
