import { DataError, type LeadsError, ServiceError } from '../../errors.ts';
import { formatDuration } from '../../time/time-text.ts';
import { isOverload, networkFailure, TransientError } from './network-failure.ts';
import type { Service } from './service.ts';

export class ComeBackError extends ServiceError {
  readonly waitMs: number;

  /** `end`: when the wait is over, in milliseconds since the epoch. */
  constructor(failure: LeadsError, waitMs: number, end: number) {
    // An absurd value may name a time that no calendar has.
    const time = end < 8.64e15 ? `at ${new Date(end).toISOString().replace(/\.\d+/, '')}` : 'later';
    const message = `${failure.message}; it asks to come back in ${formatDuration(waitMs)}`;
    super(message, { ...failure.details, hint: `try again ${time}`, cause: failure });
    this.waitMs = waitMs;
  }
}

/** The delay before the nth retry is drawn from [0, min(cap, base·2ⁿ)], "full jitter". */
const baseMs = 500;
const capMs = 30_000;

/** The delay before retry number `retry` (from 0), never less than the service asked for. */
export function retryDelay(retry: number, random: () => number, waitMs = 0): number {
  return Math.max(waitMs, random() * Math.min(capMs, baseMs * 2 ** retry));
}

/** Most rate limits that do not say when they end count by the minute. The delays double, up to the sixth. */
const limitWindowMs = 65_000;
const mostDoublings = 6;

/** The delay before retry number `retry` (from 0) of so many: all of them together reach past a minute. */
export function rateLimitDelay(retry: number, retries: number, random: () => number): number {
  const delays = Math.min(retries, mostDoublings);
  const share = 2 ** Math.min(retry, delays - 1) / (2 ** delays - 1);
  return limitWindowMs * share * (1 + random() / 4);
}

/** However short the time-out is, a rate limit of this length is waited for. */
const leastLimitWaitMs = 120_000;

/** The retries of one request: counts them, waits before each, and says when no other is made. */
export class Retries {
  readonly #service: Service;
  readonly #onRetry: () => void;
  readonly #startedAt: number;
  #count = 0;

  constructor(service: Service, onRetry: () => void = () => undefined) {
    this.#service = service;
    this.#onRetry = onRetry;
    this.#startedAt = service.clock.steady();
  }

  /** Milliseconds until the deadline: all tries have ten time-outs, five minutes by default; negative after it. */
  get leftMs(): number {
    const { timeoutMs, clock } = this.#service;
    return this.#startedAt + timeoutMs * 10 - clock.steady();
  }

  /**
   * Waits until the request may be sent once more. Gives the failure when nothing is left to try, and a `ServiceError` that says
   * when to come back when the wait asked for would end after the deadline.
   */
  async wait(reason: TransientError, signal: AbortSignal): Promise<LeadsError | undefined> {
    const { retries, timeoutMs, messages, clock, random, rateGate } = this.#service;
    const { waitMs, failure } = reason;
    // The wait holds also where this request is given up: a run that polls makes others, and none of them earlier.
    if (waitMs !== undefined) rateGate.hold(waitMs);
    if (this.#count >= retries) return this.#gaveUp(failure);
    const isLimit = failure.kind === 'rate-limited';
    const delay =
      isLimit && waitMs === undefined
        ? rateLimitDelay(this.#count, retries, random)
        : retryDelay(this.#count, random, waitMs);
    const leftMs = this.leftMs + (isLimit ? Math.max(0, leastLimitWaitMs - timeoutMs * 10) : 0);
    if (delay > leftMs)
      return waitMs !== undefined && waitMs > leftMs
        ? new ComeBackError(failure, waitMs, clock.now() + waitMs)
        : this.#gaveUp(failure);
    this.#count += 1;
    this.#onRetry();
    const detail = `retry ${this.#count} of ${retries}`;
    const why = failure.message;
    messages.verbose(`${detail} in ${formatDuration(delay)}: ${why}`);
    const pause = { ms: delay, why: isLimit ? rateLimited : why, detail };
    await messages.showWait(pause, () => clock.sleep(delay, signal));
    return undefined;
  }

  /**
   * The same for a request that threw. Gives what it threw where another try does not help; with `mayFail`, also where a retry meets an
   * overload, which a smaller page may avoid.
   */
  async after(
    thrown: unknown,
    { origin }: URL,
    signal: AbortSignal,
    mayFail = false,
  ): Promise<Error | undefined> {
    signal.throwIfAborted();
    const reason = networkFailure(thrown, origin);
    if (!(reason instanceof TransientError)) return reason;
    const isFinal = mayFail && this.#count > 0 && isOverload(reason.failure);
    return isFinal ? reason.failure : this.wait(reason, signal);
  }

  #gaveUp(failure: LeadsError): LeadsError {
    if (this.#count === 0) return failure;
    const ErrorClass = failure instanceof DataError ? DataError : ServiceError;
    const message = `${failure.message} (tried ${this.#count + 1} times)`;
    return new ErrorClass(message, { ...failure.details, cause: failure });
  }
}

export const rateLimited = 'rate limited';
