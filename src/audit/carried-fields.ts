import { payloadPaths } from '../json/payload-diff.ts';
import {
  closeBrace,
  closeBracket,
  colon,
  endOfStringBytes,
  openBrace,
  openBracket,
  quote,
} from '../json/bytes.ts';

/** A bound for leads whose members are named by chance, of which each one may have a new shape and new fields. */
const mostShapes = 10_000;
const mostPaths = mostShapes;

/** Collects the fields that any of many leads has with a value other than null. A lead of a known shape has no new ones. */
export class CarriedFields {
  readonly #paths = new Set<string>();
  readonly #shapes = new Set<number>();

  add(record: Uint8Array): void {
    const shape = shapeOf(record);
    if (this.#shapes.has(shape) || this.#isFull) return;
    if (this.#shapes.size === mostShapes) this.#shapes.clear();
    this.#shapes.add(shape);
    for (const path of payloadPaths(record)) this.#paths.add(path);
  }

  /** `path`: dotted, without the places of elements. Of too many fields to remember it is true for each. */
  has(path: string): boolean {
    return this.#isFull || this.#paths.has(path);
  }

  get #isFull(): boolean {
    return this.#paths.size > mostPaths;
  }
}

/** Outside of strings only `null` has this letter. */
const firstOfNull = 0x6e;

/**
 * The same number for compact objects with the same members, nested in the same way, of which the same are null: a hash of
 * the keys, brackets, braces and nulls in 53 bits, as many as an integer of JavaScript has. The text must be valid JSON.
 */
function shapeOf(record: Uint8Array): number {
  let [high, low] = [17, 31];
  // The multipliers of FNV-1a and of MurmurHash2 make two hashes that are independent enough.
  const mix = (byte: number): void => {
    high = Math.imul(high ^ byte, 0x01000193);
    low = Math.imul(low ^ (low >>> 13) ^ byte, 0x5bd1e995);
  };
  for (let i = 0; i < record.length; i += 1) {
    const byte = record[i];
    if (byte === quote) {
      const start = i + 1;
      i = endOfStringBytes(record, i) - 1;
      if (record[i + 1] === colon) for (let index = start; index <= i; index += 1) mix(record[index] ?? 0);
    } else if (
      byte === openBrace ||
      byte === closeBrace ||
      byte === openBracket ||
      byte === closeBracket ||
      byte === firstOfNull
    ) {
      mix(byte);
    }
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
