import type { VNode } from 'preact';
import type { WireDelivery } from '../../wire.ts';
import { go } from '../state/route.ts';
import { openDelivery } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';
import { attemptName } from '../list/attempt-text.ts';
import { exactTime, shortTime } from '../text/shown-time.ts';
import { VerdictBadge } from '../text/verdict.tsx';
import { Section } from './section.tsx';

/** All deliveries of this lead, where there are others. */
export function LeadAttempts({ delivery }: { delivery: WireDelivery }): VNode | null {
  const model = useModel();
  const { attempts, seq } = delivery;
  if (attempts.length < 2) return null;
  const now = Date.now();
  return (
    <Section title="Deliveries of this lead" count={attempts.length}>
      <ol class="lead-attempts">
        {attempts.map((row) => (
          <li key={row.seq} class={row.seq === seq ? 'is-this' : ''}>
            <VerdictBadge verdict={row.verdict} />
            <span class="attempt-number">
              {attemptName(row)}, {row.status}
            </span>
            <time dateTime={new Date(row.receivedAt).toISOString()} title={exactTime(row.receivedAt)}>
              {shortTime(row.receivedAt, now)}
            </time>
            {row.seq === seq ? (
              <span class="this-one">shown here</span>
            ) : (
              <span class="attempt-actions">
                <button
                  type="button"
                  class="link"
                  aria-label={`Open delivery ${row.seq}`}
                  onClick={() => openDelivery(model, row.seq)}
                >
                  Open
                </button>
                <button
                  type="button"
                  class="link"
                  aria-label={`Compare with delivery ${row.seq}`}
                  onClick={() => go(orderedPair(seq, row.seq))}
                >
                  Compare
                </button>
              </span>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** The older one is on the left. */
export function orderedPair(a: number, b: number): { view: 'compare'; left: number; right: number } {
  return { view: 'compare', left: Math.min(a, b), right: Math.max(a, b) };
}
