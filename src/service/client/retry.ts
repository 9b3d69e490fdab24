import { DataError, type LeadsError } from '../../errors.ts';
import { formatDuration } from '../../time/time-text.ts';
import { answerError, serviceError, type ServiceProblem } from '../problems.ts';
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
    const { retries, messages, clock, random, texts } = this.#service;
    // Also when this run gives up: one that polls comes back by itself, and not earlier.
    if (reason.waitMs !== undefined) this.#service.rateGate.holdUntil(clock.now() + reason.waitMs);
    if (this.#failed >= retries) throw this.#final(reason);
    const delay = retryDelay(this.#failed, random, reason.waitMs);
    const isTooLong = delay > this.left;
    if (isTooLong && (reason.waitMs === undefined || reason.waitMs <= this.left)) throw this.#final(reason);
    if (isTooLong) throw this.#tooLong(reason.failure, reason.waitMs ?? delay);
    this.#failed += 1;
    this.#onRetry();
    const detail = `retry ${this.#failed} of ${retries}`;
    const why = (await texts()).sentenceOf(reason.failure);
    messages.verbose(`${detail} in ${formatDuration(delay)}: ${why}`);
    const isLimit = [429, 403].includes(reason.failure.status ?? 0);
    const wait = { ms: delay, why: isLimit ? rateLimited : why, detail };
    await messages.waiting(wait, () => clock.sleep(delay, signal));
  }

  #tooLong(failure: LeadsError, waitMs: number): LeadsError {
    const { problem, status, requestId } = failure;
    if (problem === undefined) return failure;
    const at = this.#service.clock.now() + waitMs;
    const details = { cause: failure, status, requestId };
    return serviceError({ kind: 'asked-to-come-back', of: problem, waitMs, at }, details);
  }

  #final({ failure }: TransientError): LeadsError {
    const { problem, status, requestId } = failure;
    if (this.#failed === 0 || problem === undefined) return failure;
    const gaveUp: ServiceProblem = { kind: 'gave-up', of: problem, tries: this.#failed + 1 };
    const details = { cause: failure, status, requestId };
    return failure instanceof DataError ? answerError(gaveUp, details) : serviceError(gaveUp, details);
  }
}

export const rateLimited = 'rate limited';

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
