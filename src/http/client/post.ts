import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent, type IncomingMessage, request as requestPlain } from 'node:http';
import { Agent as HttpsAgent, request as requestSecure } from 'node:https';
import * as tls from 'node:tls';
import { longestTimerMs } from '../../time/duration.ts';
import { isLoopback } from '../../config/base-url.ts';

/** One request to send, exactly: header names, order and repetitions stay as given, and so does every body byte. */
interface Message {
  readonly url: string;
  /** `host`, `content-length` and `connection` are added where they are missing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** What came of it. That nobody answers is an outcome, not an error of ours. */
type Posted =
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

export interface PosterOptions {
  /** Connections kept open per origin, and so the most requests at one time. */
  readonly connections: number;
  /** Our own authority as PEM: trusted for loopback addresses only, beside the usual ones. */
  readonly loopbackCa?: string | undefined;
  readonly now: () => number;
}

/** Sends requests by POST over kept connections. Follows no redirect and uses no proxy. */
export interface Poster {
  /** Never rejects. `timeoutMs` spans from connecting to the answer's end. */
  post(
    message: Message,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<Posted>;
  close(): void;
}

const keptBytes = 65_536;

export function createPoster({ connections, loopbackCa, now }: PosterOptions): Poster {
  const kept = { keepAlive: true, maxSockets: connections };
  const plain = new HttpAgent(kept);
  const secure = new HttpsAgent(kept);
  const loopback =
    loopbackCa === undefined ? secure : new HttpsAgent({ ...kept, secureContext: trusting(loopbackCa) });
  return {
    post({ url, headers, body }, { timeoutMs, signal }) {
      const started = now();
      const target = new URL(url);
      return new Promise((resolve) => {
        const stop = new AbortController();
        const cut = (): void => stop.abort();
        const timer = setTimeout(cut, Math.min(timeoutMs, longestTimerMs));
        // By hand: on node 20, signals joined by `AbortSignal.any` stay in memory as long as the oldest of them.
        if (signal !== undefined) setMaxListeners(0, signal);
        if (signal?.aborted === true) cut();
        signal?.addEventListener('abort', cut);
        const over = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', cut);
        };
        const failed = (error: NodeJS.ErrnoException): void => {
          over();
          const code =
            signal?.aborted === true
              ? 'aborted'
              : stop.signal.aborted
                ? 'timeout'
                : (error.code ?? error.name);
          resolve({ ok: false, code, detail: error.message, durationMs: now() - started });
        };
        const options = {
          method: 'POST',
          headers: wireHeaders(target, headers, body),
          signal: stop.signal,
        };
        const onAnswer = (answer: IncomingMessage): void => {
          void collect(answer).then((got) => {
            over();
            const status = answer.statusCode ?? 0;
            const seen = pairs(answer.rawHeaders);
            resolve({ ok: true, status, headers: seen, body: got, durationMs: now() - started });
          }, failed);
        };
        try {
          const request =
            target.protocol === 'https:'
              ? requestSecure(
                  target,
                  { ...options, agent: isLoopback(target.hostname) ? loopback : secure },
                  onAnswer,
                )
              : requestPlain(target, { ...options, agent: plain }, onAnswer);
          request.on('error', failed);
          request.end(body);
        } catch (error) {
          // A header that HTTP cannot carry is refused before anything is sent.
          failed(error as Error);
        }
      });
    },
    close() {
      for (const agent of [plain, secure, loopback]) agent.destroy();
    },
  };
}

function wireHeaders(target: URL, headers: Message['headers'], body: Uint8Array): string[] {
  const has = (wanted: string): boolean => headers.some(([name]) => name.toLowerCase() === wanted);
  const flat = headers.flatMap(([name, value]) => [name, value]);
  if (!has('host')) flat.unshift('Host', target.host);
  if (!has('content-length') && !has('transfer-encoding')) flat.push('Content-Length', String(body.length));
  return flat;
}

async function collect(answer: IncomingMessage): Promise<Buffer> {
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

/** Node knows the certificates that its environment adds (`NODE_EXTRA_CA_CERTS`) by name from 22.15 on only. */
function trusting(pem: string): tls.SecureContext {
  const { getCACertificates } = tls as { getCACertificates?: (which: 'default') => string[] };
  return tls.createSecureContext({ ca: [...(getCACertificates?.('default') ?? tls.rootCertificates), pem] });
}
