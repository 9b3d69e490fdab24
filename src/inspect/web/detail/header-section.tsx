import type { VNode } from 'preact';
import type { WireDelivery } from '../../wire.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { Section } from './section.tsx';

export function HeaderSection({ headers }: { headers: WireDelivery['headers'] }): VNode | null {
  if (headers.length === 0) return null;
  return (
    <Section title="Headers" count={headers.length}>
      <dl class="headers">
        {headers.map(([name, value], i) => (
          <div key={i}>
            <dt>
              <ReceivedText text={name} />
            </dt>
            <dd>
              <ReceivedText text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
