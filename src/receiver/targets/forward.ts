import { createPoster } from '../../http/client/poster.ts';
import type { TlsTrust } from '../../http/client/trust.ts';
import { isPlainHttpAnswer, isClosedOnPlainHttp } from '../../http/errors.ts';
import { Secret, withoutSecrets } from '../../secret.ts';
import { parseProblem, problemText } from '../../service/client/problem-text.ts';
import { retryAfterMs } from '../../service/client/rate-limit.ts';
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

/** The words of a header's value that may be a credential; shorter ones are ordinary words. */
const possibleSecrets = /[^\s,;=]{6,}/g;
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
    const result = { to: 'forward', ok: status >= 200 && status < 300, durationMs, status } as const;
    if (result.ok) return { ...result, answer: String(status) };
    const { 'retry-after': retryAfter, date, location } = posted.headers;
    // The app's answer may quote the headers that it was sent, the credential included.
    const sentWords = request.headers.flatMap(([, value]) => value.match(possibleSecrets) ?? []);
    const secrets = [...(credentials?.secrets ?? []), ...sentWords.map((word) => new Secret(word))];
    const redact = (text: string): string => withoutSecrets(text, secrets, '[redacted]');
    const reason = problemText(parseProblem(posted.body.toString('utf8')), redact)?.slice(0, longestReason);
    const isRedirect = status < 400 && location !== undefined;
    const details = isRedirect ? `, Location: ${redactUrl(location, redact)}` : reason && `: ${reason}`;
    const isDown = status >= 500 || status === 429 || undefined;
    const waitMs = retryAfterMs(retryAfter, now(), date);
    return { ...result, answer: `${status}${details ?? ''}`, isDown, retryAfterMs: waitMs };
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

/** The origin stays as it is: a public host, which the sender's proxy may have named in a header, is no secret. */
function redactUrl(location: string, redact: (text: string) => string): string {
  const [originWithoutLogin = ''] = /^(?:https?:)?\/\/[^/?#@]*(?=[/?#]|$)/i.exec(location) ?? [];
  return originWithoutLogin + redact(location.slice(originWithoutLogin.length));
}

function unreachedText(code: string, detail: string, { protocol }: URL, timeoutMs: number): string {
  if (code === 'timeout') return `no answer within ${timeoutMs / 1000} s`;
  if (code === 'aborted') return 'given up at the end';
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (isPlainHttpAnswer(detail)) return 'the app speaks plain HTTP: use http://';
  const isTls = protocol === 'http:' && isClosedOnPlainHttp(code);
  return isTls ? 'connection closed without an answer: is it HTTPS?' : detail;
}
