import { messageOf } from '../../errors.ts';
import type { Clock } from '../../time/clock.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';
import type { TargetProblem } from '../problems.ts';
import { type AttemptedLead, limitedTarget, type Target } from './target.ts';

interface FunctionOptions {
  /** Distinguishes the function from others that get the leads of the same inbox. */
  readonly name: string;
  /** Takes a lead by resolving; the signal aborts when that is too late. */
  readonly call: (lead: AttemptedLead, from: CheckedDelivery, signal: AbortSignal) => Promise<unknown>;
  /** Of one call, in milliseconds. */
  readonly timeoutMs: number;
  /** Calls at the same time. */
  readonly concurrency: number;
  readonly clock: Pick<Clock, 'sleep' | 'steady'>;
  readonly sentenceOf: (found: TargetProblem) => string;
  /** Told what a call failed with, and whose lead it was. */
  readonly onError: (error: unknown, leadId: string) => void;
}

/**
 * Calls a function with each lead. A lead waits `timeoutMs` at most until its call may start, and the call has as long at
 * most: one that goes on although its signal aborted may overlap with the next attempt.
 */
export function functionTarget({ call, onError, clock, ...options }: FunctionOptions): Target {
  const { timeoutMs } = options;
  return limitedTarget({
    ...options,
    to: 'call',
    now: () => clock.steady(),
    async run(lead, from) {
      try {
        await withTimeout((signal) => call(lead, from, signal), timeoutMs, clock);
        return { ok: true, answer: 'resolved' };
      } catch (error) {
        onError(error, lead.leadId);
        return { ok: false, answer: messageOf(error).slice(0, keptAnswer) };
      }
    },
  });
}

/** Of what a call failed with, in characters. */
const keptAnswer = 200;

/** Rejects after `timeoutMs`, whatever the work does then; its signal aborts at that moment. */
async function withTimeout(
  work: (signal: AbortSignal) => Promise<unknown>,
  timeoutMs: number,
  clock: Pick<Clock, 'sleep'>,
): Promise<void> {
  const late = new AbortController();
  const done = new AbortController();
  const timeout = clock.sleep(timeoutMs, done.signal).then(
    () => {
      const error = new Error(`no result within ${timeoutMs / 1000} s`);
      error.name = 'TimeoutError';
      late.abort(error);
      throw error;
    },
    // The sleep is ended when the work is done.
    () => undefined,
  );
  try {
    await Promise.race([work(late.signal), timeout]);
  } finally {
    done.abort();
  }
}
