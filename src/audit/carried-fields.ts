import { payloadPaths } from '../inbox/payload-diff.ts';
import { shapeOf } from './record-shape.ts';

/** Shapes that are remembered, and fields: leads whose members are named by chance have no end of them. */
const most = 10_000;

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
