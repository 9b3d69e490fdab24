import type { Dispatcher } from 'undici';
import { longestTimerMs } from '../../time/time-text.ts';
import { OriginPools } from './origin-pools.ts';
import { TunnelError, unaskedContinue } from '../errors.ts';
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

type ExchangeResult =
  | {
      readonly ok: true;
      readonly status: number;
      /** By name in lower case: the first value of a header that is sent more than once. */
      readonly headers: Readonly<Record<string, string | undefined>>;
      readonly body: Buffer;
    }
  | {
      readonly ok: false;
      /** `timeout`, `aborted`, or the system's, TLS's or the HTTP parser's own code such as `ECONNREFUSED`. */
      readonly code: string;
      readonly detail: string;
    };

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

/** The first `keptBytes` of a body are kept. A body is read no further than `mostReadBytes`: then its connection is ended. */
const keptBytes = 64 * 1024;
const mostReadBytes = 1024 * 1024;

/** The handler that undici calls for one request and its answer; `onEnd` is called once, and is undefined from then on. */
class PostExchange implements Dispatcher.DispatchHandler {
  #onEnd: ((result: ExchangeResult) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Record<string, string | undefined> = {};
  readonly #body: Buffer[] = [];
  #bodyLength = 0;

  constructor(onEnd: (result: ExchangeResult) => void) {
    this.#onEnd = onEnd;
  }

  /**
   * Ends the exchange before its answer is complete, and the connection over which the request was sent: an answer that comes
   * later would be taken for that to the next request.
   */
  cut(code: 'aborted' | 'timeout'): void {
    this.#end({ ok: false, code, detail: code });
    this.#controller?.abort(new Error(code));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Cut while it waited for this connection: undici skips the request. An abort would end the connection.
    if (this.#onEnd === undefined) throw new Error('cut before it was sent');
    this.#controller = controller;
  }

  /** undici calls it for each interim answer (1xx) as well: the last one counts. */
  onResponseStart(
    _: unknown,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = status;
    this.#headers = {};
    for (const [name, value] of Object.entries(headers)) {
      this.#headers[name] = Array.isArray(value) ? value[0] : value;
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#bodyLength < keptBytes) this.#body.push(piece.subarray(0, keptBytes - this.#bodyLength));
    this.#bodyLength += piece.length;
    if (this.#bodyLength <= mostReadBytes) return;
    this.onResponseEnd();
    controller.abort(new Error('its body is too long'));
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#body);
    this.#end({ ok: true, status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_: unknown, error: NodeJS.ErrnoException): void {
    // These have no body, whatever length their headers give (RFC 9112, section 6.3); undici misses its bytes.
    const isWhole = this.#status === 204 || this.#status === 304;
    if (isWhole && error.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') this.onResponseEnd();
    this.#end({ ok: false, ...failureOf(error instanceof TunnelError ? error.cause : error) });
  }

  #end(result: ExchangeResult): void {
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.(result);
  }
}

/** For codes of undici, those that the system and node have for the same failure. */
const systemCodes: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'ECONNRESET',
  UND_ERR_HEADERS_OVERFLOW: 'HPE_HEADER_OVERFLOW',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_DESTROYED: 'aborted',
};

function failureOf({ code, name, message }: NodeJS.ErrnoException): { code: string; detail: string } {
  // A client must accept it (RFC 9110, section 15.2), and undici does not.
  if (code === 'UND_ERR_SOCKET' && message === 'bad response')
    return { code: unaskedContinue, detail: 'it answered 100 Continue, which was not asked for' };
  if (code === 'UND_ERR_SOCKET' && message === 'bad upgrade') return { code: 'HPE_INVALID', detail: message };
  // undici's parser has no codes: where the connection ends within an answer, only the message shows it.
  if (name === 'HTTPParserError')
    return { code: message.endsWith('(Invalid EOF state)') ? 'ECONNRESET' : 'HPE_INVALID', detail: message };
  return { code: systemCodes[code ?? ''] ?? code ?? name, detail: message };
}
