import type { Dispatcher } from 'undici';
import { longestTimerMs } from '../../time/time-text.ts';
import { OriginPools } from './origin-pools.ts';
import { type ExchangeResult, PostExchange } from './post-exchange.ts';
import { proxyAuthorization } from './proxy.ts';
import { type TlsTrust, trustIn, trustOptions } from './trust.ts';

/**
 * The headers are sent in their order, with their case and repetitions, and the body as it is. But undici sends `Host` first, adds
 * it where it is missing, and adds `Connection` and `Content-Length`.
 */
interface PostRequest {
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

export type PostResult = ExchangeResult & { readonly durationMs: number };

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
        const exchange = new PostExchange((result) => {
          clearTimeout(timer);
          exchanges.delete(exchange);
          resolve({ ...result, durationMs: performance.now() - startedAt });
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

/** A longer body may be answered before the server has read it all, and the rest may never be read: its connection is used once. */
const longestReusedBody = 64 * 1024;

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
    reset: body.length > longestReusedBody,
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
