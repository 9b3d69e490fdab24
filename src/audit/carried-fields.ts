import { payloadPaths } from '../inbox/payload-diff.ts';
import {
  closeBrace,
  closeBracket,
  colon,
  endOfString,
  openBrace,
  openBracket,
  quote,
} from '../json/bytes.ts';

/** Shapes that are remembered, and fields: leads whose members are named by chance have no end of them. */
const most = 10_000;

const letterN = 0x6e;

/** Which fields some lead of many has, null aside: its members are looked at only where no lead before had the same. */
export class CarriedFields {
  readonly #paths = new Set<string>();
  readonly #shapes = new Set<number>();

  /** A record in compact JSON. */
  add(record: Uint8Array): void {
    const shape = shapeOf(record);
    if (this.#shapes.has(shape) || this.#isFull) return;
    if (this.#shapes.size === most) this.#shapes.clear();
    this.#shapes.add(shape);
    for (const path of payloadPaths(record)) this.#paths.add(path);
  }

  /** `path`: dotted, without the places of elements. Of too many fields to remember it is true for each. */
  has(path: string): boolean {
    return this.#isFull || this.#paths.has(path);
  }

  get #isFull(): boolean {
    return this.#paths.size > most;
  }
}

/** The same number for records with the same members, nested in the same way, of which the same are null. */
function shapeOf(json: Uint8Array): number {
  let [one, other] = [17, 17];
  const add = (byte: number): void => {
    one = (Math.imul(one, 31) + byte) | 0;
    other = Math.imul(other ^ byte, 0x01000193);
  };
  for (let i = 0; i < json.length; i += 1) {
    const byte = json[i] as number;
    if (byte === quote) {
      const end = endOfString(json, i);
      if (json[end] === colon) for (; i < end; i += 1) add(json[i] as number);
      i = end - 1;
    } else if (isOfShape(byte)) add(byte);
  }
  // 53 bits, of which a double loses none.
  return one * 0x20_0000 + (other & 0x1f_ffff);
}

/** The `n` is that of null. */
const isOfShape = (byte: number): boolean =>
  byte === openBrace ||
  byte === closeBrace ||
  byte === openBracket ||
  byte === closeBracket ||
  byte === letterN;
