import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Problem } from '../server/problem.ts';
import { sentence } from '../text/sentence.ts';
import { Mark } from './mark.tsx';

const retryMs = 2_000;

/** In place of the page. Where a new URL would not help, it is tried again from time to time. */
export function CannotStart({ problem, onRetry }: { problem: Problem; onRetry: (() => void) | null }): VNode {
  useEffect(() => {
    if (problem.needsNewUrl || onRetry === null) return undefined;
    const timer = setTimeout(onRetry, retryMs);
    return () => clearTimeout(timer);
  }, [problem, onRetry]);
  return (
    <main class="cannot-start">
      <Mark />
      {problem.needsNewUrl ? <NewUrlNeeded problem={problem} /> : <NoAnswer problem={problem} />}
      {!problem.needsNewUrl && onRetry !== null && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </main>
  );
}

function NewUrlNeeded({ problem }: { problem: Problem }): VNode {
  return (
    <div role="alert">
      <h1>Open the new URL</h1>
      <p>
        {problem.code === 'wrong-key' ? 'The key in this URL is not valid.' : 'This tab has no valid key.'}{' '}
        Each start of <code>leads inspect</code> or <code>leads listen --inspect</code> prints a URL with a
        new key in its terminal: open that one.
      </p>
    </div>
  );
}

function NoAnswer({ problem }: { problem: Problem }): VNode {
  return (
    <div role="alert">
      <h1>No connection</h1>
      <p>
        {sentence(problem.message)} {problem.hint !== undefined && sentence(problem.hint)} This page tries
        again by itself.
      </p>
    </div>
  );
}
