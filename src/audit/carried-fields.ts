import { payloadPaths } from '../inbox/payload-diff.ts';
import { backslash, closeBrace, closeBracket, colon, openBrace, openBracket, quote } from '../json/bytes.ts';

/** Shapes that are remembered, and fields: leads whose members are named by chance have no end of them. */
const most = 10_000;

const letterN = 0x6e;

/** Which fields some lead of many has, null aside unless `withNull`: its members are looked at only where no lead before had the same. */
export class CarriedFields {
  readonly #paths = new Set<string>();
  readonly #shapes = new Set<number>();
  readonly #withNull: boolean;

  constructor({ withNull = false } = {}) {
    this.#withNull = withNull;
  }

  get paths(): readonly string[] {
    return [...this.#paths];
  }

  /** A record in compact JSON. */
  add(record: Uint8Array): void {
    const shape = shapeOf(record);
    if (this.#shapes.has(shape) || this.#isFull) return;
    if (this.#shapes.size === most) this.#shapes.clear();
    this.#shapes.add(shape);
    for (const path of payloadPaths(record, this.#withNull)) this.#paths.add(path);
  }

  /** `path`: dotted, without the places of elements. Of too many fields to remember it is true for each. */
  has(path: string): boolean {
    return this.#isFull || this.#paths.has(path);
  }

  get #isFull(): boolean {
    return this.#paths.size > most;
  }
}

/**
 * The same number for records with the same members, nested in the same way, of which the same are null. It is made of
 * each lead: of its keys, brackets and braces, and the `n` of null.
 */
function shapeOf(json: Uint8Array): number {
  let one = 17;
  let other = 17;
  const { length } = json;
  for (let i = 0; i < length; i += 1) {
    const byte = json[i] as number;
    if (byte === quote) {
      let end = i + 1;
      let ofKey = one;
      for (let next = json[end] as number; next !== quote && end < length; next = json[end] as number) {
        ofKey = (Math.imul(ofKey, 31) + next) | 0;
        end += next === backslash ? 2 : 1;
      }
      i = end;
      if (json[end + 1] !== colon) continue;
      one = ofKey;
    } else if (!isOfShape(byte)) continue;
    other = Math.imul(other ^ (one + byte), 0x01000193);
  }
  // 53 bits, of which a double loses none.
  return one * 0x20_0000 + (other & 0x1f_ffff);
}

const isOfShape = (byte: number): boolean =>
  byte === letterN ||
  byte === openBrace ||
  byte === closeBrace ||
  byte === openBracket ||
  byte === closeBracket;
