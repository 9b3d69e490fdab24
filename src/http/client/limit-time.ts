import { setMaxListeners } from 'node:events';
import { longestTimerMs } from '../../time/time-text.ts';

/**
 * Every connection by a name is made with these options. Of a host with several addresses, node gives each but the last this long, by
 * default 250 ms: where the others do not answer, one that is further away was never reached (nodejs/node#54359). This is
 * longer than a connection by satellite takes, and leaves time for the next one where a time limit is a second; ms.
 */
export const addressAttempts = { autoSelectFamilyAttemptTimeout: 750 };

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Why the signal was aborted; undefined: it was not. */
  reason(): 'timeout' | 'aborted' | undefined;
  clear(): void;
}

/** A limit of `timeoutMs` milliseconds that ends early when `outer` is aborted. */
export function limitTime(timeoutMs: number, outer: AbortSignal | undefined): TimeLimit {
  const inner = new AbortController();
  const abort = (): void => inner.abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, longestTimerMs));
  // Not `AbortSignal.any`: on node 20, signals joined by it stay in memory as long as the oldest of them.
  if (outer !== undefined) setMaxListeners(0, outer);
  if (outer?.aborted === true) abort();
  outer?.addEventListener('abort', abort);
  return {
    signal: inner.signal,
    reason: () => (outer?.aborted === true ? 'aborted' : inner.signal.aborted ? 'timeout' : undefined),
    clear: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}
