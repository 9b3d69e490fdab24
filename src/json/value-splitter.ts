import {
  backslash,
  bufferOf,
  closeBrace,
  closeBracket,
  comma,
  isSpace,
  openBrace,
  openBracket,
  quote,
} from './bytes.ts';
import { endlessObject, jsonEndsEarly, unexpectedByte } from './errors.ts';

const longestObject = 64 * 1024 * 1024;

/** Some editors write it at the start of a file. */
const byteOrderMark: readonly number[] = [0xef, 0xbb, 0xbf];

/** `value`: outside of an array. The others are inside one, where `comma` is also its end. */
type Expected = 'value' | 'element' | 'first element' | 'comma';

/**
 * Splits JSON while it arrives, in chunks of any size, into the objects at its top level: a document, the
 * elements of an array, or lines. Each object keeps its bytes, and the caller checks its grammar. Throws a
 * `DataError` with the position of anything else.
 */
export class ValueSplitter {
  #held: Uint8Array[] = [];
  #heldLength = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #expected: Expected = 'value';
  #chunkOffset = 0;
  /** Thrown after the objects before it were returned. */
  #failure: unknown;

  /** Returns the objects that end in this chunk, as views where they start in it. */
  push(chunk: Uint8Array): Buffer[] {
    if (this.#failure !== undefined) throw this.#failure as Error;
    const objects: Buffer[] = [];
    try {
      this.#split(chunk, objects);
    } catch (error) {
      if (objects.length === 0) throw error;
      this.#failure = error;
    }
    return objects;
  }

  #split(chunk: Uint8Array, objects: Buffer[]): void {
    let start = 0;
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i] as number;
      if (this.#depth === 0) {
        if (isSpace(byte) || byte === byteOrderMark[this.#chunkOffset + i]) continue;
        this.#outsideObject(byte, this.#chunkOffset + i);
        start = i;
      } else {
        i = this.#scanObject(chunk, i);
        if (this.#depth === 0) objects.push(this.#completeObject(chunk.subarray(start, i + 1)));
      }
    }
    if (this.#depth > 0) this.#hold(chunk.subarray(start));
    this.#chunkOffset += chunk.length;
  }

  /** Must be called at the end. Throws a `DataError` where an object or array is not closed. */
  end(): void {
    if (this.#failure !== undefined) throw this.#failure as Error;
    if (this.#depth === 0 && this.#expected === 'value') return;
    throw jsonEndsEarly(this.#chunkOffset);
  }

  #outsideObject(byte: number, offset: number): void {
    const expected = this.#expected;
    if (byte === openBrace && expected !== 'comma') {
      this.#depth = 1;
      return;
    }
    if (byte === openBracket && expected === 'value') this.#expected = 'first element';
    else if (byte === comma && expected === 'comma') this.#expected = 'element';
    else if (byte === closeBracket && (expected === 'comma' || expected === 'first element')) {
      this.#expected = 'value';
    } else {
      throw unexpectedByte(byte, offset);
    }
  }

  /** Continues the object. Returns the index of the byte that ends it, or the length of the chunk where it goes on. */
  #scanObject(chunk: Uint8Array, start: number): number {
    let depth = this.#depth;
    let inString = this.#inString;
    let isEscaped = this.#isEscaped;
    let i = start;
    for (; i < chunk.length; i += 1) {
      const byte = chunk[i] as number;
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) inString = false;
      } else if (byte === quote) inString = true;
      else if (byte === openBrace || byte === openBracket) depth += 1;
      else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (depth === 0) break;
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#isEscaped = isEscaped;
    return i;
  }

  #completeObject(last: Uint8Array): Buffer {
    if (this.#expected !== 'value') this.#expected = 'comma';
    if (this.#held.length === 0) return bufferOf(last);
    const object = Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.#heldLength = 0;
    return object;
  }

  #hold(piece: Uint8Array): void {
    this.#held.push(Buffer.from(piece));
    this.#heldLength += piece.length;
    if (this.#heldLength > longestObject) throw endlessObject(this.#chunkOffset);
  }
}
