import { hash } from 'node:crypto';

export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const minus = 0x2d;

export const opensContainer = (byte: number | undefined): boolean =>
  byte === openBrace || byte === openBracket;

/** White space of RFC 8259, section 2. */
export const isSpace = (byte: number): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const utf8 = (bytes: Uint8Array): string => bufferOf(bytes).toString('utf8');

export const bomLength = (bytes: Uint8Array): 0 | 3 =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;

/** Returns the position of the first byte from `offset` on that is not white space, or `limit`. */
export function skipSpace(buf: Uint8Array, offset: number, limit: number): number {
  let i = offset;
  while (i < limit && isSpace(buf[i] as number)) i += 1;
  return i;
}

/** Returns the position of the first byte from `offset` on that is not white space; undefined where only white space follows. */
export function unexpectedAfter(buf: Uint8Array, offset: number, limit: number): number | undefined {
  const end = skipSpace(buf, offset, limit);
  return end < limit ? end : undefined;
}

/** Returns the position behind the string token whose opening quote is at `start`; beyond the end where it is not closed. */
export function endOfStringBytes(json: Uint8Array, start: number): number {
  for (let i = start + 1; ; i += 1) {
    const byte = json[i];
    if (byte === quote || byte === undefined) return i + 1;
    if (byte === backslash) i += 1;
  }
}

/** Returns the position behind the bracket that closes the container at `start`; beyond the end where it is not closed. */
export function endOfContainer(json: Uint8Array, start: number): number {
  let depth = 0;
  for (let position = start; ;) {
    const byte = json[position];
    if (byte === quote) {
      position = endOfStringBytes(json, position);
      continue;
    }
    position += 1;
    if (opensContainer(byte)) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    if (depth === 0 || byte === undefined) return position;
  }
}

/** Returns the value of a valid string token; the span includes its quotes. */
export function decodeString(buf: Buffer, start: number, end: number): string {
  const text = buf.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

export const describeByte = (byte: number): string =>
  byte > 0x20 && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : `byte ${byte}`;

/**
 * Removes a byte order mark and the white space between the tokens of valid JSON; every token keeps its
 * bytes.
 */
export function compact(json: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(json.length);
  let length = 0;
  let inString = false;
  for (let i = bomLength(json); i < json.length; i += 1) {
    const byte = json[i] as number;
    if (!inString && isSpace(byte)) continue;
    if (byte === quote) inString = !inString;
    out[length] = byte;
    length += 1;
    if (byte !== backslash) continue;
    i += 1;
    out[length] = json[i] as number;
    length += 1;
  }
  return out.subarray(0, length);
}

/** `hash` takes a third of the time when it gives a binary string and not a Buffer, so the string is converted here. */
export const sha256 = (data: string | Uint8Array): Buffer =>
  Buffer.from(hash('sha256', data, 'binary'), 'latin1');
