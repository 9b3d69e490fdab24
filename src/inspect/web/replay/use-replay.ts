import { useState } from 'preact/hooks';
import type { WireReplay, WireReplayed } from '../../wire.ts';
import { type Problem, problemOf } from '../server/problem.ts';
import { useModel } from '../state/page-model.ts';

export type Outcome =
  | { readonly replayed: WireReplayed; readonly problem: null }
  | { readonly replayed: null; readonly problem: Problem };

interface Replay {
  readonly outcome: Outcome | null;
  readonly isSending: boolean;
  readonly forget: () => void;
  readonly send: (target: string, body: string | null) => Promise<void>;
}

/** One at a time; the delivery that is shown is read again after it. */
export function useReplay(seq: number): Replay {
  const model = useModel();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [isSending, setSending] = useState(false);
  const send = async (target: string, body: string | null): Promise<void> => {
    setSending(true);
    try {
      const request: WireReplay = { seq, target, ...(body !== null && { body }) };
      setOutcome({ replayed: await model.api.post<WireReplayed>('/api/replays', request), problem: null });
    } catch (error) {
      setOutcome({ replayed: null, problem: problemOf(error) });
    }
    setSending(false);
    model.version.value++;
  };
  return { outcome, isSending, forget: () => setOutcome(null), send };
}
