import { type Labels, type MetricFamily, numberText, type Sample } from './metric-family.ts';

/** How many values were at most each of some bounds, and their sum. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** By the smallest bound that the value does not exceed; the last one for values above all. */
  readonly #counts: Float64Array;
  #sum = 0;

  /** `bounds` in growing order. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] ?? 0)) index += 1;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
  }

  /** The lines of it, with these labels. */
  samples(labels: Labels = {}): Sample[] {
    let count = 0;
    const samples: Sample[] = [];
    for (const [index, added] of this.#counts.entries()) {
      count += added;
      const le = boundText(this.#bounds[index] ?? Number.POSITIVE_INFINITY);
      samples.push({ suffix: '_bucket', labels: { ...labels, le }, value: count });
    }
    samples.push({ suffix: '_count', labels, value: count }, { suffix: '_sum', labels, value: this.#sum });
    return samples;
  }

  family(about: Pick<MetricFamily, 'name' | 'help' | 'unit'>): MetricFamily {
    return { ...about, type: 'histogram', samples: this.samples() };
  }
}

/** Bounds are compared as text: a whole number is written as `1.0` ("Canonical numbers"). */
const boundText = (bound: number): string => (Number.isInteger(bound) ? `${bound}.0` : numberText(bound));
