/** One DER element (X.690, section 8.1): tag, length, and the parts as its content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.of(tag, content.length), content]);
  const length = Buffer.from(evenHex(content.length), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, content]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts);
export const octetString = (...parts: readonly Uint8Array[]): Buffer => der(0x04, ...parts);
export const utf8String = (text: string): Buffer => der(0x0c, Buffer.from(text));
export const booleanTrue = (): Buffer => der(0x01, Buffer.of(0xff));

/** A non-negative integer from its big-endian bytes; a leading zero keeps the sign positive. */
export function integer(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Buffer.of(0) : bytes.subarray(start);
  return der(0x02, (digits[0] ?? 0) >= 0x80 ? Buffer.of(0) : Buffer.of(), digits);
}

/** `unused`: how many of the low bits of the last byte do not count. */
export const bitString = (bytes: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.of(unused), bytes);

/** `[n]`, constructed. */
export const contextConstructed = (n: number, ...parts: readonly Uint8Array[]): Buffer =>
  der(0xa0 | n, ...parts);
/** `[n] IMPLICIT` over a primitive type. */
export const contextPrimitive = (n: number, bytes: Uint8Array): Buffer => der(0x80 | n, bytes);

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(arc: number): number[] {
  const low = arc & 0x7f;
  return arc < 0x80 ? [low] : [...base128(arc >>> 7).map((byte) => byte | 0x80), low];
}

/** UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280, section 4.1.2.5). In whole seconds. */
export function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  return text < '2050' ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}

function evenHex(n: number): string {
  const hex = n.toString(16);
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}
