import type { Dispatcher } from 'undici';
import { TunnelError, unaskedContinue } from '../errors.ts';

export type ExchangeResult =
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

/** The first `keptBytes` of a body are kept. A body is read no further than `mostReadBytes`: then its connection is ended. */
const keptBytes = 64 * 1024;
const mostReadBytes = 1024 * 1024;

/** The handler that undici calls for one request and its answer; `onEnd` is called once, and is undefined from then on. */
export class PostExchange implements Dispatcher.DispatchHandler {
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
