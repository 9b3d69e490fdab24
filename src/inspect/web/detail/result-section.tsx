import type { VNode } from 'preact';
import type { WireResult } from '../../wire.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { exactTime, shortTime, shownDuration } from '../text/shown-time.ts';
import { Section } from './section.tsx';

/** Every time it was handed to a target. */
export function ResultSection({ results }: { results: readonly WireResult[] }): VNode | null {
  if (results.length === 0) return null;
  const now = Date.now();
  return (
    <Section title="Handed on" count={results.length}>
      <ol class="results">
        {results.map(({ target, ok, answer, durationMs, at }, i) => (
          <li key={i} class={ok ? 'is-ok' : 'is-failed'}>
            <span class="result-state">{ok ? 'Taken' : 'Failed'}</span>
            <span>
              <ReceivedText text={target} />
            </span>
            <span class="result-answer">
              <ReceivedText text={answer} />
            </span>
            <span class="result-time">
              {shownDuration(durationMs)}
              <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
                {shortTime(at, now)}
              </time>
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
