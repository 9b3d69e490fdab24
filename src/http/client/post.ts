import {
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestPlain,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as requestSecure } from 'node:https';
import * as tls from 'node:tls';
import { isLoopback } from '../../config/base-url.ts';
import { limitTime } from './limit-time.ts';
import { requestThroughProxy, tunnelAgent } from './proxied-request.ts';

/** One request to send: order, case and repetition of headers, and every byte of the body, are sent as they are here. */
interface PostRequest {
  readonly url: string;
  /** `host` and `content-length` are added where they are missing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** That nobody answers is an outcome, not an error of ours. */
export type PostResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: readonly (readonly [name: string, value: string])[];
      /** The first 64 KiB of the answer's body. */
      readonly body: Buffer;
      readonly durationMs: number;
    }
  | {
      readonly ok: false;
      /** `timeout`, `aborted`, or the system's or TLS's own code such as `ECONNREFUSED`. */
      readonly code: string;
      readonly detail: string;
      readonly durationMs: number;
    };

interface PostOptions {
  /** From connecting to the end of the answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface PosterOptions {
  /** Connections kept open per origin, and so the most requests at one time. */
  readonly connections: number;
  /** Our own authority as PEM: trusted for loopback addresses only, beside the usual ones. */
  readonly loopbackCa?: string | undefined;
  /** An http:// or https:// proxy for every request; default: none. */
  readonly proxy?: URL | undefined;
  readonly now: () => number;
}

/** Sends POST requests over connections that it keeps open. Follows no redirect. */
export interface Poster {
  /** Never rejects. */
  post(request: PostRequest, options: PostOptions): Promise<PostResult>;
  close(): void;
}

const keptBytes = 65_536;

export function createPoster({ connections, loopbackCa, proxy, now }: PosterOptions): Poster {
  const kept = { keepAlive: true, maxSockets: connections };
  const plain = new HttpAgent(kept);
  const secure = proxy === undefined ? new HttpsAgent(kept) : tunnelAgent(proxy, kept);
  const loopback =
    loopbackCa === undefined ? secure : new HttpsAgent({ ...kept, secureContext: trusting(loopbackCa) });

  const open = (url: URL, options: WireOptions, onAnswer: (answer: IncomingMessage) => void) => {
    if (url.protocol !== 'https:') {
      return proxy === undefined
        ? requestPlain(url, { ...options, agent: plain }, onAnswer)
        : requestThroughProxy(proxy, url, options, onAnswer);
    }
    const agent = isLoopback(url.hostname) ? loopback : secure;
    return requestSecure(url, { ...options, agent }, onAnswer);
  };

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
      for (const agent of [plain, secure, loopback]) agent.destroy();
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

/** The first 64 KiB of the body; the rest is read and dropped, so that the connection can be used again. */
async function readStart(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (length < keptBytes) chunks.push(chunk.subarray(0, keptBytes - length));
    length += chunk.length;
  }
  return Buffer.concat(chunks);
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']);
}

/** Before node 22.15 there is no list of the certificates that `NODE_EXTRA_CA_CERTS` adds. */
function trusting(pem: string): tls.SecureContext {
  const { getCACertificates } = tls as { getCACertificates?: (which: 'default') => string[] };
  return tls.createSecureContext({ ca: [...(getCACertificates?.('default') ?? tls.rootCertificates), pem] });
}
