import {
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, type AgentOptions, request as requestSecure } from 'node:https';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { limitTime } from './limit-time.ts';
import type { Poster, PosterOptions, PostRequest, PostResult } from './poster.ts';
import { trustOptions } from './trust.ts';

/** Of an answer's body: what is kept, and after how much the connection is cut. */
const keptBytes = 65_536;
const mostBytes = 1 << 20;

/** The same through an http:// or https:// proxy; `loopbackCa` is not needed, since nothing on this machine is proxied. */
export function createProxiedPoster({
  connections,
  trust,
  proxy,
  now,
}: Omit<PosterOptions, 'loopbackCa'> & { readonly proxy: URL }): Poster {
  const secure = tunnelAgent(proxy, {
    keepAlive: true,
    maxSockets: connections,
    ...(trust && trustOptions(trust)),
  });

  const open = (url: URL, options: WireOptions, onAnswer: (answer: IncomingMessage) => void) =>
    url.protocol === 'https:'
      ? requestSecure(url, { ...options, agent: secure }, onAnswer)
      : requestThroughProxy(proxy, url, options, onAnswer);

  return {
    post({ url, headers, body }, { timeoutMs, signal }) {
      const startedAt = now();
      const target = new URL(url);
      return new Promise((resolve) => {
        const limit = limitTime(timeoutMs, signal);
        const finish = (result: WithoutDuration<PostResult>): void => {
          limit.clear();
          resolve({ ...result, durationMs: now() - startedAt });
        };
        const fail = (error: NodeJS.ErrnoException): void =>
          finish({
            ok: false,
            code: limit.reason() ?? error.code ?? error.name,
            detail: error.message,
          });
        const onAnswer = (answer: IncomingMessage): void => {
          void readStart(answer).then((start) => {
            const status = answer.statusCode ?? 0;
            finish({ ok: true, status, headers: pairs(answer.rawHeaders), body: start });
          }, fail);
        };
        try {
          const wire = wireHeaders(target, headers, body);
          const request = open(target, { method: 'POST', headers: wire, signal: limit.signal }, onAnswer);
          request.on('error', fail);
          request.end(body);
        } catch (error) {
          // Node throws for a header that HTTP cannot carry, before anything is sent.
          fail(error as Error);
        }
      });
    },
    close() {
      secure.destroy();
    },
  };
}

type WireOptions = RequestOptions & { readonly headers: readonly string[] };

type WithoutDuration<T> = T extends unknown ? Omit<T, 'durationMs'> : never;

function wireHeaders(target: URL, headers: PostRequest['headers'], body: Uint8Array): string[] {
  const has = (header: string): boolean => headers.some(([name]) => name.toLowerCase() === header);
  const flat = headers.flatMap(([name, value]) => [name, value]);
  if (!has('host')) flat.unshift('Host', target.host);
  if (!has('content-length') && !has('transfer-encoding')) flat.push('Content-Length', String(body.length));
  return flat;
}

/** The first 64 KiB of the body; as much as may come soon is read and dropped, so that the connection can be used again. */
async function readStart(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (length < keptBytes) chunks.push(chunk.subarray(0, keptBytes - length));
    length += chunk.length;
    // Leaving the loop cuts the connection.
    if (length > mostBytes) break;
  }
  return Buffer.concat(chunks);
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']);
}

type OnSocket = (error: Error | null, socket?: TLSSocket) => void;

/** To open a tunnel, in milliseconds; the request's own limit usually ends it earlier. */
const connectMs = 30_000;

/** Opens a tunnel through the proxy for each of its connections (`CONNECT`, RFC 9110, section 9.3.6). */
export function tunnelAgent(proxy: URL, options: AgentOptions): HttpsAgent {
  const createConnection = (target: ConnectionOptions, onSocket: OnSocket): void => {
    const host = target.host?.includes(':') === true ? `[${target.host}]` : (target.host ?? '');
    const authority = `${host}:${target.port ?? 443}`;
    const opening = toProxy(proxy, {
      method: 'CONNECT',
      path: authority,
      headers: connectHeaders(proxy, authority),
    });
    opening.setTimeout(connectMs, () => opening.destroy(new Error('the proxy opened no tunnel in time')));
    opening.once('error', onSocket);
    opening.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) {
        socket.setTimeout(0);
        onSocket(null, connect({ ...target, socket }));
        return;
      }
      socket.destroy();
      onSocket(new Error(`the proxy answered ${statusCode ?? 0} to CONNECT`));
    });
    opening.end();
  };
  return Object.assign(new HttpsAgent(options), { createConnection });
}

/** A plain HTTP request through the proxy, which gets its whole URL (RFC 9112, section 3.2.2). */
function requestThroughProxy(
  proxy: URL,
  url: URL,
  options: RequestOptions & { readonly headers: readonly string[] },
  onAnswer: (answer: IncomingMessage) => void,
): ClientRequest {
  const headers = [...options.headers, ...Object.entries(authorization(proxy)).flat()];
  return toProxy(proxy, { ...options, path: url.href, headers }, onAnswer);
}

function toProxy(
  { protocol, hostname, port }: URL,
  options: RequestOptions,
  onAnswer?: (answer: IncomingMessage) => void,
): ClientRequest {
  const isSecure = protocol === 'https:';
  const address = {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 443 : 80) : port,
  };
  return (isSecure ? requestSecure : requestPlain)({ ...options, ...address }, onAnswer);
}

const connectHeaders = (proxy: URL, host: string) => ({ host, ...authorization(proxy) });

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text, 'utf8').toString('base64')}` };
}
