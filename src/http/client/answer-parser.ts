import { ExchangeError } from '../errors.ts';

/** Limits of one answer, in bytes. What is longer than `keptBody` is dropped, and beyond `longestBody` not read at all. */
const longestHead = 16 * 1024;
const longestChunkLine = 1024;
const keptBody = 64 * 1024;
const longestBody = 1 << 20;

/** The part that comes next: the end of the head, so many bytes, a line of the chunked coding, or anything up to the end. */
type State = 'head' | 'counted' | 'chunk size' | 'chunk' | 'chunk end' | 'trailer' | 'to the end' | 'done';

const beginning = 'HTTP/1.';
/** Every line is a header: no line goes on in the next one (RFC 9112, section 5.2, where node rejects it too). */
const headerSection = /^(?:[!#$%&'*+.^`|~\w-]+:[^\0\r\n]*\r?\n)*\r?\n$/;

/**
 * Reads one answer of HTTP/1.1 or 1.0 (RFC 9112) from pieces of any size. Interim answers (1xx) are passed over, whether
 * they were asked for or not.
 */
export class AnswerParser {
  readonly ok = true;
  status = 0;
  /** How long the whole exchange took; its sender sets it. */
  durationMs = 0;
  keepsAlive = false;
  /** The head's text, one character a byte. */
  #head = '';
  #state: State = 'head';
  /** The beginning of a head or a line that goes on in the next piece. */
  #partial = '';
  #left = 0;
  #body: Buffer[] = [];
  #bodyLength = 0;

  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** The first 64 KiB. */
  get body(): Buffer {
    return this.#body.length === 1 ? (this.#body[0] as Buffer) : Buffer.concat(this.#body);
  }

  get headers(): [name: string, value: string][] {
    return headerLines(this.#head);
  }

  /** How long the server keeps an idle connection, where it says so (`Keep-Alive: timeout=5`); ms. */
  get idleMs(): number | undefined {
    const [, seconds] = /\nkeep-alive:[^\n]*\btimeout=(\d{1,6})/i.exec(this.#head) ?? [];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  }

  push(piece: Buffer): void {
    let position = 0;
    while (position < piece.length && this.#state !== 'done') position = this.#take(piece, position);
    // Bytes behind an answer belong to no request.
    if (position < piece.length) this.keepsAlive = false;
  }

  end(): boolean {
    if (this.#state === 'to the end') this.#state = 'done';
    return this.#state === 'done';
  }

  #take(piece: Buffer, start: number): number {
    switch (this.#state) {
      case 'head':
        return this.#takeHead(piece, start);
      case 'counted':
      case 'chunk': {
        const end = Math.min(piece.length, start + this.#left);
        this.#keep(piece.subarray(start, end));
        this.#left -= end - start;
        if (this.#left === 0) this.#go(this.#state === 'chunk' ? 'chunk end' : 'done');
        return end;
      }
      case 'to the end':
        this.#keep(piece.subarray(start));
        return piece.length;
      default:
        return this.#takeLine(piece, start);
    }
  }

  #takeHead(piece: Buffer, start: number): number {
    // Some servers end a body with an empty line that its length does not count.
    if (this.#partial === '' && (piece[start] === 0x0d || piece[start] === 0x0a)) return start + 1;
    const before = this.#partial.length;
    const text = this.#partial + piece.toString('latin1', start, Math.min(piece.length, start + longestHead));
    const end = endOfHead(text, Math.max(0, before - 3));
    if (end === -1) {
      // Bytes that are no HTTP may never end.
      if (!text.startsWith(beginning.slice(0, text.length))) throw noHttp();
      if (text.length >= longestHead)
        throw new ExchangeError('its headers are too long', 'HPE_HEADER_OVERFLOW');
      this.#partial = text;
      return piece.length;
    }
    this.#partial = '';
    this.#readHead(text.slice(0, end));
    return start + end - before;
  }

  #readHead(head: string): void {
    const [line = '', minor, status] = /^HTTP\/1\.([01]) (\d{3})(?: [^\r\n]*)?\r?\n/.exec(head) ?? [];
    const code = Number(status);
    if (minor === undefined || code < 100 || code === 101) throw noHttp();
    if (!headerSection.test(head.slice(line.length)))
      throw new ExchangeError('a line among its headers is no header', 'HPE_INVALID_HEADER_TOKEN');
    if (code < 200) return;
    this.status = code;
    this.#head = head;
    const lower = head.toLowerCase();
    const connection = valueIn(lower, 'connection');
    this.keepsAlive = minor === '1' ? connection?.includes('close') !== true : connection === 'keep-alive';
    this.#readFraming(lower, code);
  }

  /** How long the body is (RFC 9112, section 6.3). */
  #readFraming(lower: string, status: number): void {
    const coding = valueIn(lower, 'transfer-encoding');
    const length = valueIn(lower, 'content-length');
    if (status === 204 || status === 304) {
      this.#go('done');
      return;
    }
    if (coding !== undefined) {
      if (length !== undefined) this.keepsAlive = false;
      this.#go(/(^|[\s,])chunked$/.test(coding) ? 'chunk size' : 'to the end');
      return;
    }
    if (length === undefined) {
      this.#go('to the end');
      return;
    }
    if (!/^\d{1,15}$/.test(length))
      throw new ExchangeError('its Content-Length is no number', 'HPE_INVALID_CONSTANT');
    this.#left = Number(length);
    this.#go(this.#left === 0 ? 'done' : 'counted');
  }

  #takeLine(piece: Buffer, start: number): number {
    const newline = piece.indexOf(0x0a, start);
    const end = newline === -1 ? piece.length : newline + 1;
    this.#partial += piece.toString('latin1', start, end);
    const longest = this.#state === 'trailer' ? longestHead : longestChunkLine;
    if (this.#partial.length > longest)
      throw new ExchangeError('a line of it is too long', 'HPE_HEADER_OVERFLOW');
    if (newline === -1) return end;
    const line = this.#partial.trimEnd();
    this.#partial = '';
    if (this.#state === 'chunk end') this.#endChunk(line);
    else if (this.#state === 'chunk size') this.#readChunkSize(line);
    else if (line === '') this.#go('done');
    return end;
  }

  #endChunk(line: string): void {
    if (line !== '')
      throw new ExchangeError('a chunk of it is longer than its size', 'HPE_INVALID_CHUNK_SIZE');
    this.#go('chunk size');
  }

  #readChunkSize(line: string): void {
    const [, digits] = /^([\da-f]{1,12})\s*(?:;.*)?$/i.exec(line) ?? [];
    if (digits === undefined) throw new ExchangeError('a chunk of it has no size', 'HPE_INVALID_CHUNK_SIZE');
    this.#left = parseInt(digits, 16);
    this.#go(this.#left === 0 ? 'trailer' : 'chunk');
  }

  #keep(bytes: Buffer): void {
    if (this.#bodyLength < keptBody) this.#body.push(bytes.subarray(0, keptBody - this.#bodyLength));
    this.#bodyLength += bytes.length;
    if (this.#bodyLength <= longestBody) return;
    this.keepsAlive = false;
    this.#left = 0;
    this.#state = 'done';
  }

  #go(state: State): void {
    if (this.#state === 'done') return;
    if (state === 'to the end') this.keepsAlive = false;
    this.#state = state;
  }
}

const noHttp = (): ExchangeError => new ExchangeError('its answer is not HTTP', 'HPE_INVALID_CONSTANT');

function endOfHead(text: string, from: number): number {
  const crlf = text.indexOf('\n\r\n', from);
  const bare = text.indexOf('\n\n', from);
  return bare === -1 || (crlf !== -1 && crlf < bare) ? (crlf === -1 ? -1 : crlf + 3) : bare + 2;
}

/** The value of a header in a head in lower case; those of several such headers with commas between them. */
function valueIn(lower: string, name: string): string | undefined {
  const start = `\n${name}:`;
  const first = lower.indexOf(start);
  if (first === -1) return undefined;
  const from = first + start.length;
  if (!lower.includes(start, from)) return lower.slice(from, lower.indexOf('\n', from)).trim();
  const values = headerLines(lower).flatMap(([header, value]) => (header === name ? [value] : []));
  return values.every((value) => value === values[0]) ? values[0] : values.join(', ');
}

function headerLines(head: string): [name: string, value: string][] {
  const [, ...lines] = head.split(/\r?\n/);
  return lines.flatMap((line): [string, string][] => {
    const colon = line.indexOf(':');
    return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()]];
  });
}
