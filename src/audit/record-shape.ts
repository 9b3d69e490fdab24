import {
  closeBrace,
  closeBracket,
  colon,
  endOfString,
  openBrace,
  openBracket,
  quote,
} from '../json/bytes.ts';

/** Outside of strings it stands in no other value. */
const firstOfNull = 0x6e;

/**
 * The same number for compact objects with the same members, nested in the same way, of which the same are null: a hash of
 * 53 bits of the keys, brackets, braces and nulls. The text must be valid.
 */
export function shapeOf(record: Uint8Array): number {
  let [high, low] = [17, 31];
  const mix = (byte: number): void => {
    high = Math.imul(high ^ byte, 0x01000193);
    low = Math.imul(low ^ (low >>> 13) ^ byte, 0x5bd1e995);
  };
  for (let i = 0; i < record.length; i += 1) {
    const byte = record[i];
    if (byte === quote) {
      const start = i + 1;
      i = endOfString(record, i) - 1;
      if (record[i + 1] === colon) for (let at = start; at <= i; at += 1) mix(record[at] ?? 0);
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
