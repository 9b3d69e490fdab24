import { createPoster } from '../../http/client/post.ts';
import { isPlainHttpAnswer, isClosedOnPlainHttp } from '../../http/other-protocol.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Target } from './target.ts';

interface ForwardOptions {
  readonly url: URL;
  readonly timeoutMs: number;
  readonly bestEffort: boolean;
  /** Whether the result holds the answer's body. */
  readonly keepBody: boolean;
  /** Our own authority as PEM, trusted for loopback. */
  readonly loopbackCa: string | undefined;
  /** Aborts the requests in flight. */
  readonly signal: AbortSignal;
}

/** Of an answer's body, in characters: enough to see what the app said. */
const keptBody = 1000;

/** Connections to the app, and so the most leads in flight to it. */
const connections = 64;

/** Headers that hold for one connection only (RFC 9110, section 7.6.1), or are set again for the next one. */
const hopByHop =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/i;

/** `--forward-to`: passes the exact bytes and headers on. Follows no redirect: a 3xx is not a 2xx. */
export function forwardTarget(options: ForwardOptions): Target {
  const { url, timeoutMs, bestEffort, keepBody, loopbackCa, signal } = options;
  const poster = createPoster({ connections, loopbackCa, now: () => performance.now() });
  return {
    name: `forward ${url.href}`,
    longestMs: timeoutMs,
    bestEffort,
    async deliver({ delivery }) {
      const message = { url: url.href, headers: endToEndHeaders(delivery), body: delivery.body };
      const posted = await poster.post(message, { timeoutMs, signal });
      const durationMs = Math.round(posted.durationMs);
      if (!posted.ok) {
        const answer = failureText(posted.code, posted.detail, url, timeoutMs);
        return { to: 'forward', ok: false, answer, durationMs };
      }
      const ok = posted.status >= 200 && posted.status < 300;
      const body = keepBody ? posted.body.toString('utf8').slice(0, keptBody) : undefined;
      return { to: 'forward', ok, answer: String(posted.status), durationMs, body };
    },
    close() {
      poster.close();
      return Promise.resolve();
    },
  };
}

function failureText(code: string, detail: string, { protocol }: URL, timeoutMs: number): string {
  if (code === 'timeout') return `no answer within ${timeoutMs / 1000} s`;
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (isPlainHttpAnswer(detail)) return 'the app speaks plain HTTP: use http://';
  if (protocol === 'http:' && isClosedOnPlainHttp(code))
    return 'connection closed without an answer: is it HTTPS?';
  return code === 'aborted' ? 'given up at the end' : detail;
}

function endToEndHeaders({ rawHeaders }: Delivery): Delivery['rawHeaders'] {
  const namedByConnection = rawHeaders
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/));
  return rawHeaders.filter(
    ([name]) => !hopByHop.test(name) && !namedByConnection.includes(name.toLowerCase()),
  );
}
