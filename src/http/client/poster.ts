import { longestTimerMs } from '../../time/time-text.ts';
import { type ConnectionOptions, type ExchangeEnd, OriginConnections } from './origin-connections.ts';
import { ExchangeError } from '../errors.ts';
import { proxyAuthorization } from './tunnel.ts';

/** A request to send: order, case and repetition of headers, and every byte of the body, are sent as they are here. */
interface PostRequest {
  readonly url: string;
  /** `Host` and `Content-Length` are added where they are missing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

export type PostResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly body: Buffer;
      readonly durationMs: number;
    }
  | {
      readonly ok: false;
      /** `timeout`, `aborted`, or the system's, TLS's or the HTTP parser's own code such as `ECONNREFUSED`. */
      readonly code: string;
      readonly detail: string;
      readonly durationMs: number;
    };

interface PostOptions {
  /** From connecting to the end of the answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Poster {
  post(request: PostRequest, options: PostOptions): Promise<PostResult>;
  close(): void;
}

/**
 * Speaks HTTP/1.1 over connections of its own. undici writes its own `host` and `connection` where headers are to be sent
 * as they are here, and closes the connection on a `100 Continue` that it did not ask for, which a client must take (RFC
 * 9110, section 15.2); node's client needs three times as long for many requests at one time.
 */
export function createPoster(options: ConnectionOptions): Poster {
  const { now, proxy } = options;
  const origins = new Map<string, OriginConnections>();
  const targets = new Map<string, { readonly url: URL; readonly connections: OriginConnections }>();
  const targetOf = (text: string) => {
    const cached = targets.get(text);
    if (cached !== undefined) return cached;
    const url = new URL(text);
    const connections = origins.get(url.origin) ?? new OriginConnections(url, options);
    origins.set(url.origin, connections);
    // Usually there are few, but the paths may come from received deliveries.
    if (targets.size > 1000) targets.clear();
    const target = { url, connections };
    targets.set(text, target);
    return target;
  };
  return {
    post(request, limits) {
      const startedAt = now();
      return new Promise((resolve) => {
        const finish = (end: ExchangeEnd): void => resolve(resultOf(end, now() - startedAt));
        try {
          const { url, connections } = targetOf(request.url);
          send({ head: requestHead(url, request, proxy), body: request.body, connections }, limits, finish);
        } catch (error) {
          finish(error as Error);
        }
      });
    },
    close() {
      for (const connections of origins.values()) connections.close();
    },
  };
}

interface OutgoingPost {
  readonly head: string;
  readonly body: Uint8Array;
  readonly connections: OriginConnections;
}

/** `finish` is called once: at the answer, at a failure, when the time is up or when the signal aborts. */
function send(
  { head, body, connections }: OutgoingPost,
  { timeoutMs, signal }: PostOptions,
  finish: (end: ExchangeEnd) => void,
): void {
  let isOver = false;
  const end = (how: ExchangeEnd): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    leave?.();
    finish(how);
  };
  const cut = (code: string): void => {
    if (isOver) return;
    end(Object.assign(new Error(code), { code }));
    cancel?.();
  };
  const abort = (): void => cut('aborted');
  const timer = setTimeout(cut, Math.min(timeoutMs, longestTimerMs), 'timeout');
  const leave = signal && onAbort(signal, abort);
  let cancel: (() => void) | undefined = undefined;
  if (signal?.aborted === true) abort();
  else cancel = connections.exchange(head, body, end);
}

/** Callbacks for when a signal aborts, behind one listener: adding and removing a listener costs more than a request. */
const aborts = new WeakMap<AbortSignal, Set<() => void>>();

function onAbort(signal: AbortSignal, abort: () => void): () => void {
  let waiting = aborts.get(signal);
  if (waiting === undefined) {
    const all = new Set<() => void>();
    aborts.set(signal, all);
    signal.addEventListener('abort', () => [...all].forEach((callback) => callback()), { once: true });
    waiting = all;
  }
  waiting.add(abort);
  return () => waiting.delete(abort);
}

/** The parser puts headers and body together when a caller reads them: most need the status alone. */
function resultOf(end: ExchangeEnd, durationMs: number): PostResult {
  if (end instanceof Error) {
    return { ok: false, code: end.code ?? end.name, detail: end.message, durationMs };
  }
  end.durationMs = durationMs;
  return end;
}

const token = /^[!#$%&'*+.^_`|~\w-]+$/;
/** Beside visible characters: a space, a tab and bytes above ASCII (RFC 9110, section 5.5). */
const invalidValue = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The request up to its body, one character a byte; to a proxy that passes plain HTTP on, with the whole URL (RFC 9112,
 * section 3.2.2). Throws for a header that HTTP cannot carry, as node's client does.
 */
function requestHead(
  { protocol, origin, host, pathname, search }: URL,
  { headers, body }: PostRequest,
  proxy: URL | undefined,
): string {
  let lines = '';
  let [hasHost, hasLength] = [false, false];
  for (const [name, value] of headers) {
    if (!token.test(name) || invalidValue.test(value))
      throw new ExchangeError(
        `the header ${JSON.stringify(name)} holds what no header may hold`,
        'ERR_INVALID_CHAR',
      );
    lines += `${name}: ${value}\r\n`;
    const length = name.length;
    if (length === 4 && name.toLowerCase() === 'host') hasHost = true;
    else if (length === 14 && name.toLowerCase() === 'content-length') hasLength = true;
    else if (length === 17 && name.toLowerCase() === 'transfer-encoding') hasLength = true;
  }
  const ownHost = hasHost ? '' : `Host: ${host}\r\n`;
  if (!hasLength) lines += `Content-Length: ${body.length}\r\n`;
  const passedOn = proxy !== undefined && protocol === 'http:';
  if (passedOn) {
    for (const [name, value] of Object.entries(proxyAuthorization(proxy))) lines += `${name}: ${value}\r\n`;
  }
  return `POST ${passedOn ? origin : ''}${pathname}${search} HTTP/1.1\r\n${ownHost}${lines}\r\n`;
}
