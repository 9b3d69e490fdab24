const slabBytes = 1 << 20;
/** No record is nearly as long: what is left of a slab below this is given up. */
const reserve = 8192;
const zero = 0x30;

let slab = new Uint8Array(0);
let start = 0;
let used = 0;

/**
 * Records written piece by piece, many to one large buffer: a hundred thousand buffers of their own, or strings that
 * become bytes only at the end, cost more than what is in them. For records that live as long as the rest.
 */
export const pen = {
  begin(): void {
    if (slab.length - used < reserve) {
      slab = new Uint8Array(slabBytes);
      used = 0;
    }
    start = used;
  },
  /** A loop, since the pieces are short: `set` costs more than copying them. */
  put(bytes: Uint8Array): void {
    const { length } = bytes;
    const [into, at] = [slab, used];
    for (let i = 0; i < length; i += 1) into[at + i] = bytes[i] ?? 0;
    used = at + length;
  },
  ascii(text: string): void {
    const [into, at] = [slab, used];
    for (let i = 0; i < text.length; i += 1) into[at + i] = text.charCodeAt(i);
    used = at + text.length;
  },
  /** A whole number, with zeros in front where it has fewer than so many digits. */
  digits(value: number, atLeast = 1): void {
    let length = 1;
    for (let limit = 10; limit <= value || length < atLeast; limit *= 10) length += 1;
    let rest = value;
    for (let i = used + length - 1; i >= used; i -= 1) {
      const tens = Math.floor(rest / 10);
      slab[i] = zero + rest - tens * 10;
      rest = tens;
    }
    used += length;
  },
  get position(): number {
    return used;
  },
  /** Writes over what stands there. */
  digitAt(position: number, digit: number): void {
    slab[position] = zero + digit;
  },
  /** The record's bytes. */
  end: (): Uint8Array => slab.subarray(start, used),
};

/** Text as a piece: encoded once, written often. */
export const piece = (text: string): Uint8Array => new TextEncoder().encode(text);
