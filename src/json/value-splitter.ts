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

/** A longer object is no record: it would have to fit into memory. */
const longestObject = 64 * 1024 * 1024;

/** Some editors begin a file with it. */
const byteOrderMark: readonly number[] = [0xef, 0xbb, 0xbf];

/** What may stand at this place, outside of any object. */
type Expected = 'value' | 'element' | 'first element' | 'comma';

/**
 * Takes JSON apart while it arrives, in chunks of any size, into the objects at its top: of one document, of an array, or
 * one behind the other, such as a line each. Each object keeps its bytes, those that are not UTF-8 too; their grammar is
 * the caller's to check. Throws a `DataError`, with the place, for anything else.
 */
export class ValueSplitter {
  /** The beginning of an object that goes on in the next chunk. */
  #held: Uint8Array[] = [];
  #heldLength = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #expected: Expected = 'value';
  /** Bytes in the chunks before. */
  #before = 0;
  /** Thrown once the objects in front of it have been handed out. */
  #failure: unknown;

  /** The objects that end in this chunk. Views of it, where they begin in it. */
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
        if (isSpace(byte) || byte === byteOrderMark[this.#before + i]) continue;
        this.#outside(byte, this.#before + i);
        start = i;
      } else {
        i = this.#endOfObject(chunk, i);
        if (this.#depth === 0) objects.push(this.#taken(chunk.subarray(start, i + 1)));
      }
    }
    if (this.#depth > 0) this.#hold(chunk.subarray(start));
    this.#before += chunk.length;
  }

  /** To be called at the end. Throws a `DataError` where an object or array is not closed. */
  end(): void {
    if (this.#failure !== undefined) throw this.#failure as Error;
    if (this.#depth === 0 && this.#expected === 'value') return;
    throw jsonEndsEarly(this.#before);
  }

  #outside(byte: number, offset: number): void {
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

  /** The index of the byte that ends the object at the top; the chunk's length where it goes on. */
  #endOfObject(chunk: Uint8Array, start: number): number {
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

  #taken(last: Uint8Array): Buffer {
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
    if (this.#heldLength > longestObject) {
      throw endlessObject(this.#before);
    }
  }
}
