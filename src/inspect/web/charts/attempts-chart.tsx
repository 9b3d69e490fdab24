import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { plural, shownCount } from '../text/shown-size.ts';

/** Of accepted leads: how many deliveries each took. A list is its own text alternative. */
export function AttemptsChart({ attempts }: { attempts: readonly number[] }): VNode {
  const id = useId();
  const all = attempts.reduce((sum, count) => sum + count, 0);
  const most = Math.max(...attempts, 1);
  const isLast = (i: number): boolean => i > 0 && i === attempts.length - 1;
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h3 id={id}>Attempts that an accepted lead took</h3>
      </figcaption>
      {all === 0 ? (
        <p class="empty-body">No lead was accepted in this time.</p>
      ) : (
        <ol class="attempt-bars">
          {attempts.map((count, i) => (
            <li key={i}>
              <span>{isLast(i) ? `${i + 1} or more` : plural(i + 1, 'attempt')}</span>
              <span class="attempt-bar" aria-hidden="true">
                {count > 0 && <span style={{ width: `${(100 * count) / most}%` }} />}
              </span>
              <span class="attempt-number">{shownCount(count)}</span>
              <span class="attempt-share">{percent(count / all)}</span>
            </li>
          ))}
        </ol>
      )}
    </figure>
  );
}

/** Two digits; never 0 % or 100 % of what is not none or all. */
export function percent(share: number): string {
  const text = `${Number((share * 100).toPrecision(2))} %`;
  if (text === '100 %' && share < 1) return '> 99 %';
  return share > 0 && share < 0.001 ? '< 0.1 %' : text;
}
