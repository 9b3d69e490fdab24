import { DataError, LeadsError } from '../../errors.ts';
import { formatDuration } from '../../time/time-text.ts';
import { answerError, serviceError, type ServiceProblem } from '../problems.ts';
import type { Service } from './service.ts';
import { isLoopback } from '../../config/base-url.ts';
import { isClosedOnPlainHttp, isPlainHttpAnswer, TunnelError } from '../../http/problems.ts';

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
    this.#startedAt = service.clock.steady();
  }

  /** Milliseconds until the deadline: all attempts have ten time-outs, five minutes by default; negative behind it. */
  get left(): number {
    return this.#startedAt + this.#service.timeoutMs * 10 - this.#service.clock.steady();
  }

  /**
   * Waits until another attempt is due. Throws the failure when nothing is left to try, and a `ServiceError` that says
   * when to come back when the wait asked for would end behind the deadline.
   */
  async next(reason: TransientError, signal: AbortSignal): Promise<void> {
    const { retries, messages, clock, random, texts } = this.#service;
    // Also when this run gives up: one that polls comes back by itself, and not earlier.
    if (reason.waitMs !== undefined) this.#service.rateGate.hold(reason.waitMs);
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

interface NetworkError {
  readonly name?: string;
  readonly code?: string;
  readonly message: string;
  readonly errors?: readonly NetworkError[];
  readonly cause?: unknown;
}

/** Failures that may pass: the connection was refused, reset, closed or cut off, or took too long. */
const passing: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'],
  ...['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_SOCKET'],
  ...['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_ABORTED', 'HPE_INVALID_EOF_STATE', 'Z_BUF_ERROR'],
]);

/** Why a request got no whole answer: a `TransientError` when it may work the next time, an error of ours otherwise. */
export function networkFailure(error: unknown, origin: string): Error {
  if (error instanceof LeadsError || error instanceof TransientError) return error;
  if (error instanceof TunnelError) return tunnelFailure(error);
  const failed = error as NetworkError;
  const { message: why } = failed;
  // undici's parser does not know the codes of all that it finds.
  const isCut = failed.name === 'HTTPParserError' && why.endsWith('(Invalid EOF state)');
  const code = isCut ? 'HPE_INVALID_EOF_STATE' : codeOf(failed);
  const details = { cause: error };
  const proxied = /^Proxy response \((\d+)\)/.exec(why)?.[1];
  if (proxied !== undefined) {
    const failure = serviceError({ kind: 'proxy-refuses', origin, status: proxied }, details);
    return passes(Number(proxied)) ? new TransientError(failure) : failure;
  }
  if (passing.has(code)) {
    const mayBeTls = origin.startsWith('http:') && isClosedOnPlainHttp(code);
    return new TransientError(serviceError({ kind: 'unreachable', origin, code, mayBeTls }, details));
  }
  if (code === 'ENOTFOUND') return serviceError({ kind: 'no-such-host', origin }, details);
  if (isPlainHttpAnswer(why)) {
    const isHere = isLoopback(new URL(origin).hostname);
    return serviceError({ kind: 'answers-in-plain-http', origin, isLoopback: isHere }, details);
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL|EPROTO/.test(code))
    return serviceError({ kind: 'unsafe-connection', origin, why }, details);
  if (/^Z_|BROTLI|^ERR__ERROR_FORMAT/.test(code))
    return answerError({ kind: 'broken-compression', origin, why }, details);
  if (failed.name === 'HTTPParserError' || /^(HPE_|UND_ERR_HEADERS_OVERFLOW|ERR_)/.test(code))
    return answerError({ kind: 'no-proper-http', origin, why }, details);
  // An error without a code comes neither from undici nor from the network: it is a bug.
  return code === '' ? (error as Error) : serviceError({ kind: 'connection-failed', origin, why }, details);
}

/** The proxy cannot be reached, or gives no answer. */
function tunnelFailure(error: TunnelError): Error {
  const { proxy, cause } = error;
  const code = codeOf(cause);
  const failure = serviceError(
    { kind: 'proxy-unreachable', proxy, code, why: cause.message },
    { cause: error },
  );
  return passing.has(code) ? new TransientError(failure) : failure;
}

const codeOf = (failed: NetworkError): string =>
  failed.code ?? failed.errors?.[0]?.code ?? (failed.cause as NetworkError | undefined)?.code ?? '';

/** 408, 425, 429 and server errors pass; what the server does not implement does not. */
export const passes = (status: number): boolean =>
  status === 408 ||
  status === 425 ||
  status === 429 ||
  (status >= 500 && ![501, 505, 506, 508, 510, 511].includes(status));
