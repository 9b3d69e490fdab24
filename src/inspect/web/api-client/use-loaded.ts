import { useEffect, useState } from 'preact/hooks';
import { type AnswerSource, isAbort, type Problem, problemOf } from './problem.ts';

export interface Loaded<Answer> {
  /** While another path is loaded, what was there before stays. */
  readonly answer: Answer | null;
  readonly problem: Problem | null;
  /** The path that `answer` is of, or that failed. */
  readonly path: string | null;
}

/** Holding a key down passes deliveries by that nobody looks at; ms. */
const pauseMs = 50;

/** The answer at a path, read again when `version` changes. */
export function useLoaded<Answer>(api: AnswerSource, path: string, version: unknown): Loaded<Answer> {
  const [loaded, setLoaded] = useState<Loaded<Answer>>({ answer: null, problem: null, path: null });
  useEffect(() => {
    const loading = new AbortController();
    const load = async (): Promise<void> => {
      try {
        const answer = await api.get<Answer>(path, loading.signal);
        if (!loading.signal.aborted) setLoaded({ answer, problem: null, path });
      } catch (error) {
        if (isAbort(error)) return;
        const problem = problemOf(error);
        // What was read stays readable while the connection is lost.
        const isKept = (old: Loaded<Answer>): boolean =>
          problem.code === 'unreachable' && old.path === path && old.answer !== null;
        setLoaded((old) => (isKept(old) ? old : { answer: null, problem, path }));
      }
    };
    const timer = setTimeout(() => void load(), loaded.path === null ? 0 : pauseMs);
    return () => {
      clearTimeout(timer);
      loading.abort();
    };
  }, [api, path, version]);
  return loaded;
}
