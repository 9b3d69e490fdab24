import { backslash, isDigit, minus, quote, zero } from './bytes.ts';

/** More bytes are needed to say where the token ends. */
export const incomplete = -1;

/** A result below `incomplete` means "not JSON": where the offending byte lies. */
export const invalidAt = (at: number): number => -2 - at;
export const offenderOf = (result: number): number => -2 - result;

const plain = 0;
const ends = 1;
const escapes = 2;
/** What a byte does inside a string; control characters are not allowed there (RFC 8259, section 7). */
const inString = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === quote) return ends;
  if (byte === backslash) return escapes;
  return byte < 0x20 ? 3 : plain;
});

const escapable = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);
const hex = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[\da-f]/i.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** `at` is behind the opening quote. Behind the closing one, or `incomplete`, or `invalidAt`. */
export function stringEnd(buf: Uint8Array, at: number, limit: number): number {
  for (let i = at; i < limit; i += 1) {
    let what = inString[buf[i] as number] as number;
    while (what === plain) {
      i += 1;
      if (i >= limit) return incomplete;
      what = inString[buf[i] as number] as number;
    }
    if (what === ends) return i + 1;
    if (what !== escapes) return invalidAt(i);
    i += 1;
    if (i >= limit) return incomplete;
    const escaped = buf[i] as number;
    if (escapable[escaped] === 1) continue;
    if (escaped !== 0x75) return invalidAt(i);
    for (const end = i + 4; i < end;) {
      i += 1;
      if (i >= limit) return incomplete;
      if (hex[buf[i] as number] !== 1) return invalidAt(i);
    }
  }
  return incomplete;
}

/** `at` is on the first byte. A number that touches `limit` is `incomplete`: another digit may follow. */
export function numberEnd(buf: Uint8Array, at: number, limit: number): number {
  let i = buf[at] === minus ? at + 1 : at;
  if (i >= limit) return incomplete;
  if (!isDigit(buf[i] as number)) return invalidAt(i);
  i = buf[i] === zero ? i + 1 : digitsEnd(buf, i, limit);
  if (i < limit && buf[i] === 0x2e) {
    i += 1;
    if (i >= limit) return incomplete;
    if (!isDigit(buf[i] as number)) return invalidAt(i);
    i = digitsEnd(buf, i, limit);
  }
  if (i < limit && (buf[i] === 0x65 || buf[i] === 0x45)) {
    i += 1;
    if (i < limit && (buf[i] === 0x2b || buf[i] === minus)) i += 1;
    if (i >= limit) return incomplete;
    if (!isDigit(buf[i] as number)) return invalidAt(i);
    i = digitsEnd(buf, i, limit);
  }
  return i >= limit ? incomplete : i;
}

function digitsEnd(buf: Uint8Array, at: number, limit: number): number {
  let i = at;
  while (i < limit && isDigit(buf[i] as number)) i += 1;
  return i;
}

const literals = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** `true`, `false` or `null`, from its first byte. */
export function literalEnd(buf: Uint8Array, at: number, limit: number): number {
  const word = literals.find((one) => one[0] === buf[at]);
  if (word === undefined) return invalidAt(at);
  for (let i = 1; i < word.length; i += 1) {
    if (at + i >= limit) return incomplete;
    if (buf[at + i] !== word[i]) return invalidAt(at + i);
  }
  return at + word.length;
}
