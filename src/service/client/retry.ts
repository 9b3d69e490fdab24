import { DataError, type LeadsError, ServiceError } from '../../errors.ts';
import { formatDuration, formatSeconds } from '../../time/duration.ts';
import type { Service } from './service.ts';

/** A failure that another attempt may not meet. */
export class TransientError extends Error {
  readonly failure: LeadsError;
  /** What the service asked to wait, in milliseconds. */
  readonly waitMs: number | undefined;

  constructor(failure: LeadsError, waitMs?: number) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.waitMs = waitMs;
  }
}

/** Milliseconds; the delay before the nth retry is drawn from [0, min(cap, base·2ⁿ)], "full jitter". */
const base = 500;
const cap = 30_000;

/** How long a page may take with all its retries: ten time-outs, five minutes by default. */
const deadlineMs = (service: Pick<Service, 'timeoutMs'>): number => service.timeoutMs * 10;

/** The delay before retry number `retry` (from 0), never less than the service asked for. */
export function retryDelay(retry: number, random: () => number, waitMs = 0): number {
  return Math.max(waitMs, random() * Math.min(cap, base * 2 ** retry));
}

/** The attempts at one page: counts them, waits between them, and says when no other is made. */
export class Attempts {
  readonly #service: Service;
  readonly #onRetry: () => void;
  readonly #startedAt: number;
  #failed = 0;

  constructor(service: Service, onRetry: () => void) {
    this.#service = service;
    this.#onRetry = onRetry;
    this.#startedAt = service.clock.now();
  }

  /** Milliseconds until the deadline; negative behind it. */
  get left(): number {
    return this.#startedAt + deadlineMs(this.#service) - this.#service.clock.now();
  }

  /**
   * Waits until another attempt is due. Throws the failure when nothing is left to try, and a `ServiceError` that says
   * when to come back when the wait asked for would end behind the deadline.
   */
  async next(reason: TransientError, signal: AbortSignal): Promise<void> {
    const { retries, messages, clock, random } = this.#service;
    // Also when this run gives up: one that polls comes back by itself, and not earlier.
    if (reason.waitMs !== undefined) this.#service.rateGate.holdUntil(clock.now() + reason.waitMs);
    if (this.#failed >= retries) throw this.#final(reason);
    const delay = retryDelay(this.#failed, random, reason.waitMs);
    const isTooLong = delay > this.left;
    if (isTooLong && (reason.waitMs === undefined || reason.waitMs <= this.left)) throw this.#final(reason);
    if (isTooLong) throw tooLong(reason.failure, reason.waitMs ?? delay, clock.now());
    this.#failed += 1;
    this.#onRetry();
    const detail = `retry ${this.#failed} of ${retries}`;
    messages.verbose(`${detail} in ${formatDuration(delay)}: ${reason.failure.message}`);
    const wait = { ms: delay, why: shortReason(reason.failure), detail };
    await messages.waiting(wait, () => clock.sleep(delay, signal));
  }

  #final({ failure }: TransientError): LeadsError {
    if (this.#failed === 0) return failure;
    const { status, requestId, hint } = failure;
    const Failure = failure instanceof DataError ? DataError : ServiceError;
    return new Failure(`${failure.message} (tried ${this.#failed + 1} times)`, {
      cause: failure,
      status,
      requestId,
      hint,
    });
  }
}

/** For a line that is drawn while a retry waits. */
const shortReason = ({ status, message }: LeadsError): string =>
  status === 429 || status === 403 ? rateLimited : message;

export const rateLimited = 'rate limited';

function tooLong(failure: LeadsError, waitMs: number, now: number): ServiceError {
  // An absurd value may name a time that no calendar has.
  const then = now + waitMs;
  const when = then < 8.64e15 ? `at ${new Date(then).toISOString().replace(/\.\d+/, '')}` : 'later';
  return new ServiceError(`${failure.message}; it asks to come back in ${formatDuration(waitMs)}`, {
    cause: failure,
    status: failure.status,
    requestId: failure.requestId,
    hint: `try again ${when}`,
  });
}

/**
 * How long `Retry-After` (RFC 9110, section 10.2.3) asks to wait from now, in milliseconds: seconds, or a date, which
 * is held against our clock and against the service's own `Date`, whichever asks for more. Undefined when it is
 * missing or neither.
 */
export function retryAfterMs(
  value: string | undefined,
  now: number,
  serviceDate: string | undefined,
): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // A bare Date.parse would take "-5" for the month of May.
  const at = /[a-z]{3}|T\d/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const theirs = Date.parse(serviceDate ?? '');
  return Math.max(0, at - now, Number.isNaN(theirs) ? 0 : at - theirs);
}

interface Options {
  /** Between two attempts, in milliseconds. */
  readonly every: number;
  /** An answer that is not what it must be may heal as well, since there was a good one before. */
  readonly hasWorked: boolean;
}

/**
 * Repeats a step of a run that polls until the service is there again, and says when an outage begins and when it ends.
 * Passes on what does not heal by waiting: a rejected key, wrong usage, output that cannot be written, an interruption.
 */
export async function outliveOutages<T>(
  step: () => Promise<T>,
  { every, hasWorked }: Options,
  { clock, signal, messages }: Pick<Service, 'clock' | 'signal' | 'messages'>,
): Promise<T> {
  let awaySince: number | undefined;
  for (;;) {
    try {
      const result = await step();
      if (awaySince !== undefined) {
        messages.say(`the service answers again, after ${formatDuration(clock.now() - awaySince)}`);
      }
      return result;
    } catch (error) {
      const heals = error instanceof ServiceError || (hasWorked && error instanceof DataError);
      if (!heals || signal.aborted) throw error;
      if (awaySince === undefined)
        messages.say(`${error.message}; trying again every ${formatSeconds(every)}`);
      awaySince ??= clock.now();
      const wait = { ms: every, why: error.message, isExpected: true };
      await messages.waiting(wait, () => clock.sleep(every, signal));
    }
  }
}
