import { longestTimerMs } from '../../time/duration.ts';
import type { AnswerParser } from './answer-parser.ts';
import { OriginConnections } from './origin-connections.ts';
import type { Poster, PosterOptions, PostOptions, PostRequest, PostResult } from './poster.ts';

/**
 * Speaks HTTP/1.1 over its own connections: for many requests at one time this takes a third of the time that node's
 * client needs, which makes several streams and a dozen events of each request.
 */
export function createDirectPoster(options: Omit<PosterOptions, 'proxy'>): Poster {
  const { now } = options;
  const origins = new Map<string, OriginConnections>();
  const targets = new Map<string, { readonly url: URL; readonly connections: OriginConnections }>();
  const targetOf = (text: string) => {
    const known = targets.get(text);
    if (known !== undefined) return known;
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
        const finish = (result: ExchangeResult): void => resolve(timed(result, now() - startedAt));
        try {
          const { url, connections } = targetOf(request.url);
          send(request, requestHead(url, request), connections, limits, finish);
        } catch (error) {
          finish({ error: error as Error });
        }
      });
    },
    close() {
      for (const connections of origins.values()) connections.close();
    },
  };
}

type ExchangeResult = { readonly answer: AnswerParser } | { readonly error: NodeJS.ErrnoException };

/** `finish` is called once: at the answer, at a failure, when the time is up or when the signal aborts. */
function send(
  { body }: PostRequest,
  head: string,
  connections: OriginConnections,
  { timeoutMs, signal }: PostOptions,
  finish: (result: ExchangeResult) => void,
): void {
  let isOver = false;
  const end = (result: ExchangeResult): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    leave?.();
    finish(result);
  };
  const cut = (code: string): void => {
    // By now its connection may carry another request.
    if (isOver) return;
    end({ error: Object.assign(new Error(code), { code }) });
    cancel?.();
  };
  const abort = (): void => cut('aborted');
  const timer = setTimeout(cut, Math.min(timeoutMs, longestTimerMs), 'timeout');
  const leave = signal && onAbort(signal, abort);
  let cancel: (() => void) | undefined = undefined;
  if (signal?.aborted === true) abort();
  else {
    cancel = connections.exchange(head, body, ({ answer, error }) =>
      end(answer === undefined ? { error: error ?? new Error('no answer') } : { answer }),
    );
  }
}

/** What is to be called when a signal aborts: one listener each, since adding and removing one costs more than a request. */
const aborts = new WeakMap<AbortSignal, Set<() => void>>();

function onAbort(signal: AbortSignal, abort: () => void): () => void {
  let waiting = aborts.get(signal);
  if (waiting === undefined) {
    const all = new Set<() => void>();
    aborts.set(signal, all);
    signal.addEventListener('abort', () => [...all].forEach((one) => one()), { once: true });
    waiting = all;
  }
  waiting.add(abort);
  return () => waiting.delete(abort);
}

function timed(result: ExchangeResult, durationMs: number): PostResult {
  if ('error' in result) {
    const { code, name, message } = result.error;
    return { ok: false, code: code ?? name, detail: message, durationMs };
  }
  return new Answer(result.answer, durationMs);
}

/** Its headers and body are put together when somebody reads them: most callers need the status alone. */
class Answer {
  readonly ok = true;
  readonly durationMs: number;
  readonly #parsed: AnswerParser;

  constructor(parsed: AnswerParser, durationMs: number) {
    this.#parsed = parsed;
    this.durationMs = durationMs;
  }

  get status(): number {
    return this.#parsed.status;
  }

  get headers(): readonly (readonly [string, string])[] {
    return this.#parsed.headers;
  }

  get body(): Buffer {
    return this.#parsed.body;
  }
}

const token = /^[!#$%&'*+.^_`|~\w-]+$/;
/** Beside visible characters: a space, a tab and bytes above ASCII (RFC 9110, section 5.5). */
const invalidValue = /[^\t\x20-\x7e\x80-\xff]/;

/** The request up to its body, one character a byte. Throws for a header that HTTP cannot carry, as node's client does. */
function requestHead({ host, pathname, search }: URL, { headers, body }: PostRequest): string {
  let lines = '';
  let [hasHost, hasLength] = [false, false];
  for (const [name, value] of headers) {
    if (!token.test(name) || invalidValue.test(value)) {
      throw Object.assign(new Error(`the header ${JSON.stringify(name)} holds what no header may hold`), {
        code: 'ERR_INVALID_CHAR',
      });
    }
    lines += `${name}: ${value}\r\n`;
    const length = name.length;
    if (length === 4 && name.toLowerCase() === 'host') hasHost = true;
    else if (length === 14 && name.toLowerCase() === 'content-length') hasLength = true;
    else if (length === 17 && name.toLowerCase() === 'transfer-encoding') hasLength = true;
  }
  const ownHost = hasHost ? '' : `Host: ${host}\r\n`;
  const ownLength = hasLength ? '' : `Content-Length: ${body.length}\r\n`;
  return `POST ${pathname}${search} HTTP/1.1\r\n${ownHost}${lines}${ownLength}\r\n`;
}
