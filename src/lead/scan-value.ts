import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isSpace,
  minus,
  nine,
  openBrace,
  openBracket,
  quote,
} from './bytes.ts';
import { incomplete, invalidAt, literalEnd, numberEnd, stringEnd } from './scan-token.ts';

/** Where a top-level field's value lies; `count` is how often its key stands there, 0 when it does not. */
export interface Span {
  start: number;
  end: number;
  count: number;
}

const names = ['id', 'createdAt', 'category'] as const;
const [idName, createdAtName, categoryName] = [
  Buffer.from('id'),
  Buffer.from('createdAt'),
  Buffer.from('category'),
];
const span = (): Span => ({ start: 0, end: 0, count: 0 });

const expectValue = 0;
const expectValueOrEnd = 1;
const expectKey = 2;
const expectKeyOrEnd = 3;
const expectColon = 4;
const expectMore = 5;

const inArray = 0;
const inObject = 1;

/**
 * Finds the end of one JSON value in bytes and checks its grammar on the way (RFC 8259; UTF-8 is the caller's to
 * check, natively and for many records at once). Notes where an object's own `id`, `createdAt` and `category` lie.
 * The nesting lives in an array, not on the call stack, so that no depth can crash it.
 */
export class ValueScan {
  readonly id = span();
  readonly createdAt = span();
  readonly category = span();
  /** White space stands between the value's tokens. */
  spaced = false;
  readonly #fields = [this.id, this.createdAt, this.category];
  #nesting: Uint8Array = new Uint8Array(64);

  /** `start` is on the value's first byte. Behind its last one, or `incomplete`, or `invalidAt`. */
  end(buf: Uint8Array, start: number, limit: number): number {
    for (const field of this.#fields) field.count = 0;
    this.spaced = false;
    let nesting = this.#nesting;
    let depth = 0;
    let expect = expectValue;
    let field: Span | undefined;
    let valueStart = start;
    let i = start;
    while (i < limit) {
      const byte = buf[i] as number;
      if (byte <= 0x20) {
        if (!isSpace(byte)) return invalidAt(i);
        this.spaced = true;
        i += 1;
        continue;
      }
      if (expect === expectMore) {
        const kind = nesting[depth - 1];
        if (byte === comma) {
          expect = kind === inObject ? expectKey : expectValue;
          i += 1;
          continue;
        }
        if (byte !== (kind === inObject ? closeBrace : closeBracket)) return invalidAt(i);
        i += 1;
        depth -= 1;
      } else if (expect === expectColon) {
        if (byte !== colon) return invalidAt(i);
        expect = expectValue;
        i += 1;
        continue;
      } else if (expect === expectKey || (expect === expectKeyOrEnd && byte !== closeBrace)) {
        if (byte !== quote) return invalidAt(i);
        const end = stringEnd(buf, i + 1, limit);
        if (end < 0) return end;
        if (depth === 1) field = this.#fieldNamed(buf, i + 1, end - 1);
        i = end;
        expect = expectColon;
        // Compact JSON is the usual case: what is expected next stands right here.
        if (i < limit && buf[i] === colon) {
          i += 1;
          expect = expectValue;
        }
        continue;
      } else if (
        (expect === expectKeyOrEnd && byte === closeBrace) ||
        (expect === expectValueOrEnd && byte === closeBracket)
      ) {
        i += 1;
        depth -= 1;
      } else {
        if (depth === 1) valueStart = i;
        if (byte === openBrace || byte === openBracket) {
          if (depth === nesting.length) nesting = this.#deepen();
          nesting[depth] = byte === openBrace ? inObject : inArray;
          depth += 1;
          expect = byte === openBrace ? expectKeyOrEnd : expectValueOrEnd;
          i += 1;
          continue;
        }
        const end =
          byte === quote
            ? stringEnd(buf, i + 1, limit)
            : byte === minus || byte <= nine
              ? numberEnd(buf, i, limit)
              : literalEnd(buf, i, limit);
        if (end < 0) return end;
        i = end;
      }
      // A value has just ended.
      if (depth === 0) return i;
      if (depth === 1 && field !== undefined) {
        field.start = valueStart;
        field.end = i;
        field.count += 1;
        field = undefined;
      }
      expect = expectMore;
      if (i < limit && buf[i] === comma) {
        i += 1;
        expect = nesting[depth - 1] === inObject ? expectKey : expectValue;
      }
    }
    return incomplete;
  }

  #fieldNamed(buf: Uint8Array, start: number, end: number): Span | undefined {
    const length = end - start;
    if (length === 2 && sameBytes(idName, buf, start)) return this.id;
    if (length === 9 && sameBytes(createdAtName, buf, start)) return this.createdAt;
    if (length === 8 && sameBytes(categoryName, buf, start)) return this.category;
    for (let i = start; i < end; i += 1) if (buf[i] === backslash) return this.#fieldEscaped(buf, start, end);
    return undefined;
  }

  /** A key may be written with escapes: `"\u0069d"` is `id`. */
  #fieldEscaped(buf: Uint8Array, start: number, end: number): Span | undefined {
    const name = decodeString(buf, start - 1, end + 1);
    return this.#fields[names.findIndex((one) => one === name)];
  }

  #deepen(): Uint8Array {
    const deeper = new Uint8Array(this.#nesting.length * 4);
    deeper.set(this.#nesting);
    return (this.#nesting = deeper);
  }
}

function sameBytes(word: Uint8Array, buf: Uint8Array, start: number): boolean {
  for (let i = 0; i < word.length; i += 1) if (buf[start + i] !== word[i]) return false;
  return true;
}

/** The value of a string token that was found valid, quotes included in the span. */
export function decodeString(buf: Uint8Array, start: number, end: number): string {
  return JSON.parse(Buffer.from(buf.buffer, buf.byteOffset + start, end - start).toString('utf8')) as string;
}
