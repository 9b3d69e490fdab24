import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as requestSecure } from 'node:https';
import { limitTime } from '../limit-time.ts';
import { trustOptions } from '../trust.ts';
import type { Poster, PosterOptions, PostRequest, PostResult } from './poster.ts';
import { requestThroughProxy, tunnelAgent } from './proxied-request.ts';

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
