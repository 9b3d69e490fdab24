import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { WireDelivery } from '../../wire.ts';
import { Dialog } from '../shell/dialog.tsx';
import { useModel } from '../state/page-model.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { sentence } from '../text/sentence.ts';
import { BodyEditor } from './body-editor.tsx';
import { ReplayOutcome } from './replay-outcome.tsx';
import { TargetChoice } from './target-choice.tsx';
import { useReplay } from './use-replay.ts';

export function ReplayDialog({ delivery }: { delivery: WireDelivery }): VNode {
  const { inbox } = useModel();
  const [body, setBody] = useState<string | null>(null);
  const targets = inbox.targets.filter(({ isLocal }) => body === null || isLocal);
  const [chosen, setChosen] = useState(inbox.targets[0]?.name ?? null);
  const target = targets.find(({ name }) => name === chosen) ?? targets[0] ?? null;
  const { outcome, isSending, send, forget } = useReplay(delivery.seq);
  const obstacle = inbox.targets.length === 0 ? noTargets : obstacleOf(delivery);
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

const obstacleOf = ({ notReplayable }: WireDelivery): string | null =>
  notReplayable === null ? null : sentence(notReplayable);
