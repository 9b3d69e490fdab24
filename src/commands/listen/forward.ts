import type { Dispatcher } from 'undici';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Handed, Target } from './target.ts';

interface ForwardOptions {
  readonly url: URL;
  readonly dispatcher: Dispatcher;
  readonly timeoutMs: number;
  readonly keepBody: boolean;
  /** Gives up what is in flight. */
  readonly stop: AbortSignal;
}

/** Of an answer's body: enough to see what the app said. */
const shownBody = 4096;

/** Between two hops only (RFC 9110, section 7.6.1), or set anew for the next one. */
const ownToEachHop =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/i;

/** Passes the exact bytes and headers on. Follows no redirect: a 3xx is not a 2xx. */
export function forwardTo(options: ForwardOptions): Target {
  const { url, dispatcher, timeoutMs, keepBody, stop } = options;
  return {
    name: `forward ${url.href}`,
    async hand({ delivery }) {
      const started = performance.now();
      const done = (ok: boolean, answer: string, body?: string): Handed => ({
        to: 'forward',
        ok,
        answer,
        durationMs: Math.round(performance.now() - started),
        body,
      });
      try {
        const response = await dispatcher.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'POST',
          headers: forwardedHeaders(delivery),
          body: delivery.body,
          signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), stop]),
        });
        const body = await firstBytes(response.body);
        const ok = response.statusCode >= 200 && response.statusCode < 300;
        return done(ok, String(response.statusCode), keepBody ? body : undefined);
      } catch (error) {
        return done(false, reasonOf(error, timeoutMs));
      }
    },
  };
}

/** A flat list, as undici takes it: order, case and repetitions stay. */
function forwardedHeaders({ rawHeaders }: Delivery): string[] {
  const named = rawHeaders
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/));
  return rawHeaders
    .filter(([name]) => !ownToEachHop.test(name) && !named.includes(name.toLowerCase()))
    .flat();
}

/** Reads all of it, so that the connection can be used again, and keeps the beginning. */
async function firstBytes(body: AsyncIterable<Uint8Array>): Promise<string> {
  const kept: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    if (size < shownBody) kept.push(chunk.subarray(0, shownBody - size));
    size += chunk.length;
  }
  return Buffer.concat(kept).toString('utf8');
}

function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} s`;
  if (code === 'ECONNREFUSED') return 'connection refused';
  return code ?? message;
}
