import { render, type VNode } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Button } from './elements.tsx';
import { keepOverReload, openSession, reloadOnNewKey } from './api-client/api.ts';
import { type Problem, problemOf } from './api-client/problem.ts';
import { Mark } from './shell/header.tsx';
import { Page } from './shell/page.tsx';
import { ModelProvider, PageModel } from './state/page-model.ts';
import { sentence } from './text/format.ts';

/** The page once there is a session, or why there is none. */
function Start(): VNode | null {
  const [model, setModel] = useState<PageModel | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const isStarted = useRef(false);
  const start = useCallback((): void => {
    // Each start that succeeds begins to look at the inbox, and one is enough.
    if (isStarted.current) return;
    isStarted.current = true;
    makeModel().then(setModel, (error: unknown) => {
      setProblem(problemOf(error));
      isStarted.current = false;
    });
  }, []);
  useEffect(start, [start]);
  if (model === null) return problem && <CannotStart problem={problem} onRetry={start} />;
  return (
    <ModelProvider value={model}>
      <Page />
    </ModelProvider>
  );
}

async function makeModel(): Promise<PageModel> {
  const { api, inbox } = await openSession();
  const model = new PageModel(api, inbox);
  model.start();
  return model;
}

const retryMs = 2_000;

/** In place of the page. Where a new URL would not help, it is tried again from time to time. */
function CannotStart({ problem, onRetry }: { problem: Problem; onRetry: () => void }): VNode {
  useEffect(() => {
    if (problem.needsNewUrl) return undefined;
    const timer = setTimeout(onRetry, retryMs);
    return () => clearTimeout(timer);
  }, [problem, onRetry]);
  return (
    <main class="cannot-start">
      <Mark />
      <div role="alert">
        <h1>{problem.needsNewUrl ? 'Open the new URL' : 'No connection'}</h1>
        {problem.needsNewUrl ? (
          <p>
            {problem.code === 'wrong-key'
              ? 'The key in this URL is not valid.'
              : 'This tab has no valid key.'}{' '}
            A URL opens the page once, within ten minutes. <code>leads</code> prints the next one in its
            terminal: open that one.
          </p>
        ) : (
          <p>
            {sentence(problem.message)} {problem.hint !== undefined && sentence(problem.hint)} This page tries
            again by itself.
          </p>
        )}
      </div>
      {!problem.needsNewUrl && (
        <Button class="button" onClick={onRetry}>
          Try again
        </Button>
      )}
    </main>
  );
}

const place = document.getElementById('app');
if (place === null) throw new Error('the page is not whole');
reloadOnNewKey();
keepOverReload();
render(<Start />, place);
