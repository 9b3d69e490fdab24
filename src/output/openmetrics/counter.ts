import type { Labels, MetricFamily } from './metric-family.ts';

/** One growing number. */
export interface Series {
  value: number;
}

/** A metric that only grows, one number for each set of labels. */
export class Counter {
  readonly #about: Pick<MetricFamily, 'name' | 'help' | 'unit'>;
  readonly #series: { readonly labels: Labels; readonly series: Series }[] = [];

  constructor(about: Pick<MetricFamily, 'name' | 'help' | 'unit'>) {
    this.#about = about;
  }

  /** A new series that starts at 0: known before its first event, so that a rate over that is right, too. */
  add(labels: Labels): Series {
    const series = { value: 0 };
    this.#series.push({ labels, series });
    return series;
  }

  family(): MetricFamily {
    return {
      ...this.#about,
      type: 'counter',
      samples: this.#series.map(({ labels, series }) => ({ suffix: '_total', labels, value: series.value })),
    };
  }
}
