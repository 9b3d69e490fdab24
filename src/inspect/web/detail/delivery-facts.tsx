import type { ComponentChildren, VNode } from 'preact';
import type { WireDelivery } from '../../wire.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { shownSize } from '../text/shown-size.ts';
import { exactTime, shortTime } from '../text/shown-time.ts';

const sources: Record<WireDelivery['source'], string> = {
  push: '',
  backfill: 'read back from the service',
  replay: 'sent as a replay',
};

export function DeliveryFacts({ delivery }: { delivery: WireDelivery }): VNode {
  const { receivedAt, status, attempt, remote, method, path, size, source, category, seq } = delivery;
  return (
    <dl class="facts">
      <Fact name="Received">
        <time dateTime={new Date(receivedAt).toISOString()}>{shortTime(receivedAt, Date.now())}</time>
        <span class="fact-more">{exactTime(receivedAt)}</span>
      </Fact>
      <Fact name="Answer">
        {status} <span class="fact-more">to attempt {attempt}</span>
      </Fact>
      <Fact name="Request">
        <code>
          {method} <ReceivedText text={path} />
        </code>
        <span class="fact-more">{shownSize(size)}</span>
      </Fact>
      <Fact name="Sender">
        <ReceivedText text={remote} />
        <span class="fact-more">{sources[source]}</span>
      </Fact>
      {category !== null && (
        <Fact name="Category">
          <ReceivedText text={category} />
        </Fact>
      )}
      <Fact name="Number">{seq}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
