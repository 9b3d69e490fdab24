import type { VNode } from 'preact';
import type { WireDelivery } from '../../wire.ts';
import { ClosePane } from '../shell/close-pane.tsx';
import { Key } from '../keys/key.tsx';
import { copyCurl, copyText, downloadBody, openCompare, openReplay } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';
import { deliveryTitle } from '../text/delivery-title.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { VerdictBadge } from '../text/verdict.tsx';

export function DeliveryHead({ delivery }: { delivery: WireDelivery }): VNode {
  const model = useModel();
  const { verdict, name, leadId, seq, notReplayable } = delivery;
  const canReplay = notReplayable === null && model.inbox.targets.length > 0;
  return (
    <header class="delivery-head">
      <div class="delivery-title">
        <VerdictBadge verdict={verdict} />
        <h2>
          <ReceivedText text={deliveryTitle({ seq, name, leadId: null })} />
        </h2>
        <ClosePane />
      </div>
      {leadId !== null && (
        <p class="delivery-id">
          <code>
            <ReceivedText text={leadId} />
          </code>
          <button type="button" class="link" onClick={() => void copyText(model, leadId)}>
            Copy id
          </button>
        </p>
      )}
      <div class="actions" role="group" aria-label="Actions">
        <button
          type="button"
          class={`button${canReplay ? ' primary' : ''}`}
          aria-keyshortcuts="r"
          onClick={() => void openReplay(model)}
        >
          Replay <Key name="r" />
        </button>
        <button type="button" class="button" aria-keyshortcuts="d" onClick={() => void openCompare(model)}>
          Compare <Key name="d" />
        </button>
        <button type="button" class="button" aria-keyshortcuts="c" onClick={() => void copyCurl(model)}>
          Copy as curl <Key name="c" />
        </button>
        <button type="button" class="button" onClick={() => void downloadBody(model)}>
          Download body
        </button>
      </div>
    </header>
  );
}
