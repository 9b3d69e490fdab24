import { isPlainHttpAnswer, isClosedOnPlainHttp } from '../../http/other-protocol.ts';
import { createPoster } from '../../http/client/post.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Target } from './target.ts';

interface ForwardOptions {
  readonly url: URL;
  readonly timeoutMs: number;
  /** Whether the answer's body is shown. */
  readonly keepBody: boolean;
  /** Our own authority as PEM, trusted for loopback. */
  readonly loopbackCa: string | undefined;
  /** Gives up what is in flight. */
  readonly stop: AbortSignal;
}

/** Of an answer's body, in characters: enough to see what the app said. */
const shownBody = 1000;

/** Connections to the app: as many leads are on their way to it at a time. */
const connections = 64;

/** Between two hops only (RFC 9110, section 7.6.1), or set anew for the next one. */
const ownToEachHop =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/i;

/** Passes the exact bytes and headers on. Follows no redirect: a 3xx is not a 2xx. */
export function forwardTo(options: ForwardOptions): Target {
  const { url, timeoutMs, keepBody, loopbackCa, stop } = options;
  const poster = createPoster({ connections, loopbackCa, now: () => performance.now() });
  return {
    name: `forward ${url.href}`,
    async deliver({ delivery }) {
      const message = { url: url.href, headers: forwardedHeaders(delivery), body: delivery.body };
      const posted = await poster.post(message, { timeoutMs, signal: stop });
      const durationMs = Math.round(posted.durationMs);
      if (!posted.ok) {
        return {
          to: 'forward',
          ok: false,
          answer: whyNot(posted.code, posted.detail, url, timeoutMs),
          durationMs,
        };
      }
      const ok = posted.status >= 200 && posted.status < 300;
      const body = keepBody ? posted.body.toString('utf8').slice(0, shownBody) : undefined;
      return { to: 'forward', ok, answer: String(posted.status), durationMs, body };
    },
    close() {
      poster.close();
      return Promise.resolve();
    },
  };
}

function whyNot(code: string, detail: string, { protocol }: URL, timeoutMs: number): string {
  if (code === 'timeout') return `no answer within ${timeoutMs / 1000} s`;
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (isPlainHttpAnswer(detail)) return 'the app speaks plain HTTP: use http://';
  if (protocol === 'http:' && isClosedOnPlainHttp(code)) return 'connection closed without an answer: is it HTTPS?';
  return code === 'aborted' ? 'given up at the end' : detail;
}

function forwardedHeaders({ rawHeaders }: Delivery): Delivery['rawHeaders'] {
  const named = rawHeaders
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/));
  return rawHeaders.filter(([name]) => !ownToEachHop.test(name) && !named.includes(name.toLowerCase()));
}
