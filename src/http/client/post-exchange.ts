import type { Dispatcher } from 'undici';
import { TunnelError, unaskedContinue } from '../errors.ts';

export type ExchangeEnd =
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

/** Bytes of an answer's body: what is beyond `keptBody` is dropped, and beyond `longestBody` not read at all. */
const keptBody = 64 * 1024;
const longestBody = 1 << 20;

/** The handler that undici tells of one request and its answer; `onEnd` is called once. */
export class PostExchange implements Dispatcher.DispatchHandler {
  #onEnd: ((end: ExchangeEnd) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Record<string, string | undefined> = {};
  readonly #body: Buffer[] = [];
  #bodyLength = 0;

  constructor(onEnd: (end: ExchangeEnd) => void) {
    this.#onEnd = onEnd;
  }

  /**
   * Ends the exchange, and the connection over which it was sent: the answer could still come, and would be taken for that to
   * the next request.
   */
  cut(code: 'aborted' | 'timeout'): void {
    this.#end({ ok: false, code, detail: code });
    this.#controller?.abort(new Error(code));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // An abort would end the connection, over which nothing was sent.
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
    if (this.#bodyLength < keptBody) this.#body.push(piece.subarray(0, keptBody - this.#bodyLength));
    this.#bodyLength += piece.length;
    if (this.#bodyLength <= longestBody) return;
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

  #end(end: ExchangeEnd): void {
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.(end);
  }
}

/** The codes of undici by those that the system and node give for the same. */
const usualCodes: Readonly<Record<string, string>> = {
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
  // undici's parser gives no codes.
  if (name === 'HTTPParserError')
    return { code: message.endsWith('(Invalid EOF state)') ? 'ECONNRESET' : 'HPE_INVALID', detail: message };
  return { code: usualCodes[code ?? ''] ?? code ?? name, detail: message };
}
