import { LeadsError } from '../../errors.ts';
import { formatDuration } from '../../time/time-text.ts';
import {
  answersInPlainHttp,
  brokenCompression,
  ComeBackError,
  connectionFailed,
  gaveUp,
  noProperHttp,
  noSuchHost,
  proxyRefuses,
  proxyUnreachable,
  type TlsCause,
  type TlsFailure,
  unreachable,
  unsafeConnection,
} from '../errors.ts';
import type { Service } from './service.ts';
import { isLoopback } from '../../config/base-url.ts';
import {
  isClosedOnPlainHttp,
  isPlainHttpAnswer,
  TunnelError,
  TunnelRefusedError,
} from '../../http/errors.ts';

/** A failure that the same request may not meet once more. */
export class TransientError extends Error {
  readonly failure: LeadsError;
  /** The service asked to wait so long, in milliseconds. */
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

/** Most rate limits that do not say when they end count by the minute, ms. */
const usualWindow = 65_000;
/** More retries than these do not divide the window any further. */
const mostShares = 6;

/** The delay before retry number `retry` (from 0) of so many: all of them together reach past a minute. */
export function rateLimitDelay(retry: number, retries: number, random: () => number): number {
  const shares = Math.min(retries, mostShares);
  const share = 2 ** Math.min(retry, shares - 1) / (2 ** shares - 1);
  return usualWindow * share * (1 + random() / 4);
}

/** A short time-out does not cut the wait for a rate limit shorter than this, ms. */
const longestLimit = 120_000;

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

  /** Milliseconds until the deadline: all tries have ten time-outs, five minutes by default; negative behind it. */
  get leftMs(): number {
    const { timeoutMs, clock } = this.#service;
    return this.#startedAt + timeoutMs * 10 - clock.steady();
  }

  /**
   * Waits until the request may be sent once more. Gives the failure when nothing is left to try, and a `ServiceError` that says
   * when to come back when the wait asked for would end behind the deadline.
   */
  async wait(reason: TransientError, signal: AbortSignal): Promise<LeadsError | undefined> {
    const { retries, timeoutMs, messages, clock, random, rateGate } = this.#service;
    const { waitMs, failure } = reason;
    // It counts also when this run gives up: one that polls comes back by itself, and not earlier.
    if (waitMs !== undefined) rateGate.hold(waitMs);
    if (this.#count >= retries) return this.#gaveUp(failure);
    const isLimit = failure.kind === 'rate-limited';
    const delay =
      isLimit && waitMs === undefined
        ? rateLimitDelay(this.#count, retries, random)
        : retryDelay(this.#count, random, waitMs);
    const leftMs = this.leftMs + (isLimit ? Math.max(0, longestLimit - timeoutMs * 10) : 0);
    if (delay > leftMs)
      return waitMs !== undefined && waitMs > leftMs
        ? this.#comeBack(failure, waitMs)
        : this.#gaveUp(failure);
    this.#count += 1;
    this.#onRetry();
    const detail = `retry ${this.#count} of ${retries}`;
    const why = failure.message;
    messages.verbose(`${detail} in ${formatDuration(delay)}: ${why}`);
    const pause = { ms: delay, why: isLimit ? rateLimited : why, detail };
    await messages.waiting(pause, () => clock.sleep(delay, signal));
    return undefined;
  }

  #comeBack(failure: LeadsError, waitMs: number): LeadsError {
    return new ComeBackError(failure, waitMs, this.#service.clock.now() + waitMs);
  }

  #gaveUp(failure: LeadsError): LeadsError {
    return this.#count === 0 ? failure : gaveUp(failure, this.#count + 1);
  }
}

/** 408, 425, 429 and server errors pass; what the server does not implement does not. */
export const passes = (status: number): boolean =>
  status === 408 ||
  status === 425 ||
  status === 429 ||
  (status >= 500 && ![501, 505, 506, 508, 510, 511].includes(status));

export const rateLimited = 'rate limited';

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
export function networkFailure(thrown: unknown, origin: string): Error {
  if (thrown instanceof LeadsError || thrown instanceof TransientError) return thrown;
  if (thrown instanceof TunnelError) return tunnelFailure(thrown);
  const error = thrown as Error & NetworkError;
  // undici's parser does not know the codes of all that it finds.
  const isCut = error.name === 'HTTPParserError' && error.message.endsWith('(Invalid EOF state)');
  const code = isCut ? 'HPE_INVALID_EOF_STATE' : codeOf(error);
  if (thrown instanceof TunnelRefusedError) {
    const failure = proxyRefuses(origin, thrown.status, thrown);
    return passes(thrown.status) ? new TransientError(failure) : failure;
  }
  if (passing.has(code)) {
    const mayBeTls = origin.startsWith('http:') && isClosedOnPlainHttp(code);
    return new TransientError(unreachable(origin, code, mayBeTls, thrown));
  }
  if (code === 'ENOTFOUND') return noSuchHost(origin, thrown);
  if (isPlainHttpAnswer(error.message))
    return answersInPlainHttp(origin, isLoopback(new URL(origin).hostname), thrown);
  const tls = origin.startsWith('https:') ? tlsFailureOf(code, error) : undefined;
  if (tls !== undefined) return unsafeConnection(origin, tls, thrown);
  if (/^Z_|BROTLI|^ERR__ERROR_FORMAT/.test(code)) return brokenCompression(origin, error);
  if (error.name === 'HTTPParserError' || /^(HPE_|UND_ERR_HEADERS_OVERFLOW|ERR_)/.test(code))
    return noProperHttp(origin, error);
  // An error without a code comes neither from undici nor from the network: it is a bug.
  return code === '' ? error : connectionFailed(origin, error);
}

/** The proxy cannot be reached, or gives no answer. */
function tunnelFailure(error: TunnelError): Error {
  const { proxy, cause } = error;
  // node says no more of a proxy that closes the connection.
  const code = cause.message === 'socket hang up' ? 'UND_ERR_SOCKET' : codeOf(cause);
  const failure = proxyUnreachable(proxy, code, error);
  return passing.has(code) ? new TransientError(failure) : failure;
}

const codeOf = (failed: NetworkError): string =>
  failed.code ?? failed.errors?.[0]?.code ?? (failed.cause as NetworkError | undefined)?.code ?? '';

interface FailedConnection {
  readonly message: string;
  /** The bytes that the HTTP parser could not read. */
  readonly data?: unknown;
  readonly otherNames?: string;
  readonly cert?: { readonly subjectaltname?: string; readonly subject?: { readonly CN?: unknown } };
}

/** Codes of OpenSSL, which are its messages in other letters, and those of node; the first that fits counts. */
const causes: readonly (readonly [cause: TlsCause, pattern: RegExp])[] = [
  ['expired', /cert has expired|alert certificate expired/],
  ['not-yet-valid', /cert not yet valid/],
  ['other-host', /cert altname invalid/],
  ['unknown-authority', /self signed|unable to (get issuer|get local issuer|verify leaf)|cert untrusted/],
  ['old-protocol', /alert protocol version|unsupported protocol|version too low|ssl choose client/],
  ['no-http1', /no application protocol/],
  ['client-certificate', /alert (certificate required|bad certificate)/],
  ['handshake', /alert (handshake failure|internal error|unrecognized name)|no shared cipher|no ciphers/],
  ['other', /\b(cert|tls|ssl|eproto|unable to)\b/],
];

/** Undefined for a failure that is not about TLS. */
export function tlsFailureOf(code: string, failed: FailedConnection): TlsFailure | undefined {
  const { message, otherNames } = failed;
  const plain = `${code} ${message}`.toLowerCase().replace(/[_-]/g, ' ');
  const cause = isHttp2(failed) ? 'no-http1' : causes.find(([, pattern]) => pattern.test(plain))?.[0];
  if (cause === undefined) return undefined;
  if (cause === 'unknown-authority' && otherNames !== undefined)
    return { cause: 'other-host', detail: hosts(otherNames) };
  if (cause === 'other-host')
    return { cause, detail: hosts(failed.cert?.subjectaltname ?? String(failed.cert?.subject?.CN)) };
  return { cause, detail: /SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] ?? message };
}

/** `DNS:a.example, IP Address:10.0.0.1` as `a.example, 10.0.0.1`. */
const hosts = (names: string): string => names.replace(/\b(DNS|IP Address):/g, '').slice(0, 200);

/** A server that speaks HTTP/2 whatever the client offers begins with a frame of settings (RFC 9113, section 3.4). */
const isHttp2 = ({ data }: FailedConnection): boolean =>
  typeof data === 'string' && data.startsWith('\0') && data[3] === '\u0004';
