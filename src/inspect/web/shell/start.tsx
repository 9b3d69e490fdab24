import type { VNode } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { WireInbox } from '../../wire.ts';
import { openSession } from '../server/page-session.ts';
import { type Problem, problemOf } from '../server/problem.ts';
import { useValue } from '../state/use-value.ts';
import { ModelProvider, PageModel } from '../state/page-model.ts';
import { CannotStart } from './cannot-start.tsx';
import { Page } from './page.tsx';

/** The page once there is a session, or why there is none. */
export function Start(): VNode | null {
  const [model, setModel] = useState<PageModel | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const start = useCallback((): void => {
    makeModel().then(
      (made) => {
        setProblem(null);
        setModel(made);
      },
      (error: unknown) => setProblem(problemOf(error)),
    );
  }, []);
  useEffect(start, [start]);
  if (problem !== null) return <CannotStart problem={problem} onRetry={start} />;
  return model === null ? null : <Started model={model} />;
}

async function makeModel(): Promise<PageModel> {
  const api = await openSession();
  const model = new PageModel(api, await api.get<WireInbox>('/api/inbox'));
  model.start();
  return model;
}

function Started({ model }: { model: PageModel }): VNode {
  const { state, problem } = useValue(model.live.connection);
  if (state === 'ended' && problem !== null) return <CannotStart problem={problem} onRetry={null} />;
  return (
    <ModelProvider value={model}>
      <Page />
    </ModelProvider>
  );
}
