import request from 'undici/lib/api/api-request.js';
import {
  answerHeaders,
  type HttpAnswer,
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
} from './http-client.ts';
import { proxyFor } from './proxy.ts';
import { OriginPools } from './origin-pools.ts';
import { loopbackAuthorities } from './trust.ts';

/**
 * The client of one run: HTTP/1.1 with keep-alive, `timeoutMs` to connect, to the first header and between two pieces of a
 * body, through the proxy that the environment names. The certificate of an https loopback address may also be issued by our
 * own local authority; `NODE_EXTRA_CA_CERTS` counts for loopback here, and for other hosts in node.
 */
export function createAgent(options: HttpClientOptions): HttpClient {
  const { env, timeoutMs } = options;
  const pools = new OriginPools({
    connectMs: timeoutMs,
    answerMs: timeoutMs,
    proxyFor: (origin) => proxyFor(origin, env),
    trustOf: async (origin) => {
      const ca = await loopbackAuthorities(origin, options);
      return ca.length === 0 ? {} : { ca };
    },
    setV8Flag: options.setV8Flag,
  });
  return { request: (sent) => rejectOnAbort(send(pools, sent), sent.signal), destroy: () => pools.destroy() };
}

/** Bytes of a body that undici buffers before it pauses the socket: its default is one read, so that it would pause after each. */
const highWaterMark = 512 * 1024;

/** Calls `request` as a method of the pool: only undici's index, which takes long to load, makes it one. */
async function send(pools: OriginPools, sent: HttpRequest): Promise<HttpAnswer> {
  const { origin, body: sentBody = null } = sent;
  const options = { ...sent, body: sentBody, responseHeaders: 'raw', highWaterMark } as const;
  const answer = await request.call(pools.of(origin), options);
  const { statusCode: status, statusText } = answer;
  // undici's types do not say that its raw headers are one list.
  const headers = answerHeaders(answer.headers as unknown as readonly string[]);
  const body = answer.body as AsyncIterable<Uint8Array>;
  return { status, statusText, ...headers, body, discard: () => answer.body.dump() };
}

/** undici looks at a request's signal only once there is a connection, for which a proxy may let it wait. */
async function rejectOnAbort<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
