import type { Facet, FacetValues } from './field-values.ts';
import { MatrixCounts } from './matrix-counts.ts';
import { BucketCounts, type BucketUnit } from './time-buckets.ts';
import { ValueCounts } from './value-counts.ts';

/** How many leads there are, by values of their fields and by time; memory is bounded, whatever the leads hold. */
export class LeadCounts {
  readonly facets: readonly Facet[];
  readonly #values: readonly ValueCounts[];
  /** Of two facets, where they are to be counted together. */
  readonly matrix: MatrixCounts | undefined;
  readonly buckets: BucketCounts;
  /** The same leads, as if they were of another window. */
  readonly shifted: BucketCounts;
  readonly #shiftMs: number;
  #total = 0;
  #undated = 0;

  /** `shiftMs`: from the window of these leads to that with which their buckets are compared; 0 for no other one. */
  constructor(facets: readonly Facet[], isMatrix: boolean, unit: BucketUnit | undefined, shiftMs = 0) {
    this.facets = facets;
    this.#values = facets.map(() => new ValueCounts());
    this.matrix = isMatrix ? new MatrixCounts() : undefined;
    this.buckets = new BucketCounts(unit);
    this.#shiftMs = shiftMs;
    this.shifted = shiftMs === 0 ? this.buckets : new BucketCounts(unit);
  }

  get total(): number {
    return this.#total;
  }

  /** Leads whose time is not known: they are in the total and in no bucket. */
  get undated(): number {
    return this.#undated;
  }

  /** `time` in milliseconds since the epoch, for its bucket. */
  add(found: FacetValues, time: number | undefined): void {
    this.#total += 1;
    if (time === undefined) this.#undated += 1;
    else this.#addTime(time);
    for (const [i, counts] of this.#values.entries()) {
      for (const value of found[i] ?? []) counts.add(value);
    }
    if (this.matrix === undefined) return;
    const [rows = [], columns = []] = found;
    for (const row of rows) for (const column of columns) this.matrix.add(row, column);
  }

  #addTime(time: number): void {
    this.buckets.add(time);
    if (this.shifted !== this.buckets) this.shifted.add(time + this.#shiftMs);
  }

  /** The counts of the facet at that index. */
  valuesOf(index: number): ValueCounts {
    return this.#values[index] ?? new ValueCounts();
  }

  /** Keys of facets with more different values than are counted apart. */
  get fullFacets(): readonly string[] {
    return this.facets.flatMap(({ key }, i) => (this.#values[i]?.isFull === true ? [key] : []));
  }
}
