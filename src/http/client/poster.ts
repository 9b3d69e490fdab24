import type { Dispatcher } from 'undici';
import { longestTimerMs } from '../../time/time-text.ts';
import { OriginPools } from './origin-pools.ts';
import { type ExchangeEnd, PostExchange } from './post-exchange.ts';
import { proxyAuthorization } from './proxy.ts';
import { type TlsTrust, trustIn, trustOptions } from './trust.ts';

/** Order, case and repetition of headers, and every byte of the body, are sent as they are here, but for `Host`. */
interface PostRequest {
  readonly url: string;
  /** undici sends `Host` first, and adds it where it is missing; it adds `Connection` and `Content-Length`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

export type PostResult = ExchangeEnd & { readonly durationMs: number };

/**
 * `connections` are kept open per origin, and so are the most requests at one time. `timeoutMs` is for one request, from `post` to
 * the end of the answer; waiting for a free connection counts.
 */
interface PosterOptions {
  readonly connections: number;
  readonly timeoutMs: number;
  readonly trust?: TlsTrust | undefined;
  readonly proxy?: URL | undefined;
}

export interface Poster {
  /** Sends a request once: a failure is a result, also where the server closed an idle connection just then. */
  post(request: PostRequest): Promise<PostResult>;
  /** Aborts what is in flight, and what is posted later. */
  close(): void;
}

export function createPoster(options: PosterOptions): Poster {
  const { connections, trust = trustIn(undefined), proxy } = options;
  const timeoutMs = Math.min(options.timeoutMs, longestTimerMs);
  const isProxy = ({ origin }: URL): boolean => origin === proxy?.origin;
  const pools = new OriginPools({
    connections,
    connectMs: timeoutMs,
    // The timer of `post` limits the whole exchange.
    answerMs: 0,
    proxyFor: (origin) => (isProxy(origin) ? undefined : proxy),
    // `trust` is meant for the target: an https proxy has a certificate of a usual authority.
    trustOf: (origin) => Promise.resolve(isProxy(origin) ? {} : trustOptions(trust)),
  });
  const exchanges = new Set<PostExchange>();
  let isClosed = false;
  return {
    post(request) {
      const startedAt = performance.now();
      return new Promise((resolve) => {
        const exchange = new PostExchange((end) => {
          clearTimeout(timer);
          exchanges.delete(exchange);
          resolve({ ...end, durationMs: performance.now() - startedAt });
        });
        const timer = setTimeout(() => exchange.cut('timeout'), timeoutMs);
        exchanges.add(exchange);
        if (isClosed) {
          exchange.cut('aborted');
          return;
        }
        try {
          const { origin, sent } = outgoing(request, proxy);
          pools.of(origin).dispatch(sent, exchange);
        } catch (error) {
          exchange.onResponseError(undefined, error as Error);
        }
      });
    },
    close() {
      isClosed = true;
      for (const exchange of exchanges) exchange.cut('aborted');
      void pools.destroy();
    },
  };
}

/** A server may answer a longer body before it has read it, and never read the rest: its connection is not used again. */
const longBody = 64 * 1024;

/** The request as undici sends it. A proxy gets plain HTTP itself, with the whole URL (RFC 9112, section 3.2.2). */
function outgoing(
  { url, headers, body }: PostRequest,
  proxy: URL | undefined,
): { readonly origin: string; readonly sent: Dispatcher.DispatchOptions } {
  const { protocol, origin, host, hostname, pathname, search } = new URL(url);
  const sent = {
    method: 'POST',
    path: pathname + search,
    headers: headers.flat(),
    body,
    // Without it, undici would open another connection for each host that a `Host` header names.
    servername: hostname,
    reset: body.length > longBody,
  } as const;
  if (proxy === undefined || protocol === 'https:') return { origin, sent };
  const hasHost = headers.some(([name]) => /^host$/i.test(name));
  const proxyHeaders = { ...(!hasHost && { host }), ...proxyAuthorization(proxy) };
  return {
    origin: proxy.origin,
    sent: {
      ...sent,
      path: origin + sent.path,
      headers: [...sent.headers, ...Object.entries(proxyHeaders).flat()],
    },
  };
}
