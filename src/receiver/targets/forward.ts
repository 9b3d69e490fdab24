import { createPoster } from '../../http/client/poster.ts';
import type { TlsTrust } from '../../http/client/trust.ts';
import { isPlainHttpAnswer, isClosedOnPlainHttp } from '../../http/errors.ts';
import { withoutSecrets } from '../../secret.ts';
import { parseProblem, problemText } from '../../service/client/problem-text.ts';
import { retryAfterMs } from '../../service/client/rate-limit.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { forwardRequest, type HeadersOf, splitCredentials } from './forward-request.ts';
import type { Target, TargetResult } from './target.ts';

interface ForwardOptions {
  readonly url: URL;
  readonly keepPath?: boolean;
  readonly scheme: string | undefined;
  readonly proxy: URL | undefined;
  readonly timeoutMs: number;
  readonly trust?: TlsTrust | undefined;
  readonly headersOf?: HeadersOf | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** In characters: a shorter part of a header is an ordinary word, and no secret. */
const shortestSecret = 6;
const longestReason = 200;

/** Connections to the app, and so the most deliveries in flight to it. */
const connections = 64;

/**
 * Forwards the exact bytes and headers of a delivery, once for all leads in it. A redirect, which may lead to another host, is not
 * followed: the result names its `Location`.
 */
export function forwardTarget(options: ForwardOptions): Target {
  const { keepPath = false, scheme, proxy, timeoutMs, trust, headersOf, now, signal } = options;
  const { bare: url, credentials } = splitCredentials(options.url);
  const poster = createPoster({ connections, timeoutMs, trust, proxy });
  if (signal.aborted) poster.close();
  signal.addEventListener('abort', () => poster.close(), { once: true });
  const redacted = (text: string): string => withoutSecrets(text, credentials?.secrets ?? [], '[redacted]');
  /** The app's reason for its failure. It may quote the headers that it was sent, the credential included. */
  const reasonIn = (body: Buffer, sentHeaders: Delivery['rawHeaders']): string | undefined => {
    const sentWords = sentHeaders
      .flatMap(([, value]) => value.split(/[\s,;=]+/))
      .filter((word) => word.length >= shortestSecret);
    const text = problemText(parseProblem(body.toString('utf8')), (reason) =>
      sentWords.reduce((reasonText, word) => reasonText.replaceAll(word, '[redacted]'), redacted(reason)),
    );
    return text?.slice(0, longestReason);
  };
  const forward = async (request: ReturnType<typeof forwardRequest>): Promise<TargetResult> => {
    if (request === undefined) {
      const answer = "its path leads out of the target's URL";
      return { to: 'forward', ok: false, answer, durationMs: 0 };
    }
    const posted = await poster.post(request);
    const durationMs = Math.round(posted.durationMs);
    if (!posted.ok) {
      const through = proxy === undefined ? '' : ` (through the proxy ${proxy.host})`;
      const answer = `${unreachedText(posted.code, posted.detail, url, timeoutMs)}${through}`;
      return { to: 'forward', ok: false, answer, durationMs, isDown: true };
    }
    const { status } = posted;
    const ok = status >= 200 && status < 300;
    const { 'retry-after': retryAfter, date } = posted.headers;
    const location = status >= 300 && status < 400 ? posted.headers['location'] : undefined;
    const reason = ok ? undefined : reasonIn(posted.body, request.headers);
    const statusText = reason === undefined ? String(status) : `${status}: ${reason}`;
    const answer = location === undefined ? statusText : `${status}, Location: ${redacted(location)}`;
    const result = { to: 'forward', ok, answer, durationMs, status } as const;
    if (ok) return result;
    const isDown = status >= 500 || status === 429 || undefined;
    return { ...result, isDown, retryAfterMs: retryAfterMs(retryAfter, now(), date) };
  };
  return {
    name: `forward ${url.href}`,
    isWhole: true,
    concurrency: connections,
    deliver(checked, attempt) {
      const to = { url, credentials, keepPath, scheme, headersOf };
      return forward(forwardRequest(checked, attempt, to));
    },
    close() {
      poster.close();
      return Promise.resolve();
    },
  };
}

function unreachedText(code: string, detail: string, { protocol }: URL, timeoutMs: number): string {
  if (code === 'timeout') return `no answer within ${timeoutMs / 1000} s`;
  if (code === 'aborted') return 'given up at the end';
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (isPlainHttpAnswer(detail)) return 'the app speaks plain HTTP: use http://';
  const isTls = protocol === 'http:' && isClosedOnPlainHttp(code);
  return isTls ? 'connection closed without an answer: is it HTTPS?' : detail;
}
