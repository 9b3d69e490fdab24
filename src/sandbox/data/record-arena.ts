const blockBytes = 1 << 20;
/** Every record is shorter than this, so it fits where so much is left of a block. */
const longestRecord = 8192;
const zero = 0x30;

let block = new Uint8Array(0);
let start = 0;
let used = 0;

/**
 * Writes records piece by piece, many into one large block: a buffer for each of a hundred thousand records, or strings
 * that become bytes at the end, cost more time than their content. For records that live as long as their neighbours.
 */
export const recordArena = {
  beginRecord(): void {
    if (block.length - used < longestRecord) {
      block = new Uint8Array(blockBytes);
      used = 0;
    }
    start = used;
  },
  /** A loop, since the pieces are short: `set` takes longer than copying them. */
  append(bytes: Uint8Array): void {
    const { length } = bytes;
    const [into, offset] = [block, used];
    for (let i = 0; i < length; i += 1) into[offset + i] = bytes[i] ?? 0;
    used = offset + length;
  },
  appendAscii(text: string): void {
    const [into, offset] = [block, used];
    for (let i = 0; i < text.length; i += 1) into[offset + i] = text.charCodeAt(i);
    used = offset + text.length;
  },
  /** A whole number, with zeros in front where it has fewer than `minDigits` digits. */
  appendDigits(value: number, minDigits = 1): void {
    let length = 1;
    for (let limit = 10; limit <= value || length < minDigits; limit *= 10) length += 1;
    let rest = value;
    for (let i = used + length - 1; i >= used; i -= 1) {
      const tens = Math.floor(rest / 10);
      block[i] = zero + rest - tens * 10;
      rest = tens;
    }
    used += length;
  },
  /** Where the next byte goes. */
  get position(): number {
    return used;
  },
  overwriteDigit(position: number, digit: number): void {
    block[position] = zero + digit;
  },
  /** The record's bytes. */
  endRecord: (): Uint8Array => block.subarray(start, used),
};

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
