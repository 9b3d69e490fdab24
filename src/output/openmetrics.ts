/**
 * Names and values of one series. Values come from a closed list or from the command line, never from a
 * request.
 */
type Labels = Readonly<Record<string, string>>;

/** A line of a family. Its name is the family's name with the suffix that the type requires. */
interface Sample {
  readonly suffix: '' | '_total' | '_bucket' | '_sum' | '_count';
  readonly labels: Labels;
  readonly value: number;
}

export interface MetricFamily {
  /** Without a suffix; it ends in the unit (`_seconds`, `_bytes`) where there is one. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** The `content-type` of `openMetricsText`. */
export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/**
 * Writes the families in the text format of OpenMetrics 1.0
 * (https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md, "Text format").
 */
export function openMetricsText(families: readonly MetricFamily[]): string {
  return `${families.map(familyText).join('')}# EOF\n`;
}

function familyText({ name, type, help, samples }: MetricFamily): string {
  const [, unit] = /_(seconds|bytes)$/.exec(name) ?? [];
  const lines = [`# TYPE ${name} ${type}`];
  if (unit !== undefined) lines.push(`# UNIT ${name} ${unit}`);
  lines.push(`# HELP ${name} ${escaped(help)}`);
  for (const { suffix, labels, value } of samples) {
    lines.push(`${name}${suffix}${labelsText(labels)} ${value}`);
  }
  return `${lines.join('\n')}\n`;
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

const escaped = (text: string): string => text.replace(/[\\"\n]/g, (character) => escapes[character] ?? '');

/** Makes a family of a single value without labels, or of a value for each set of labels. */
export const gauge = (
  name: string,
  help: string,
  values: number | readonly (readonly [labels: Labels, value: number])[],
): MetricFamily => ({
  name,
  type: 'gauge',
  help,
  samples: (typeof values === 'number' ? [[{}, values] as const] : values).map(([labels, value]) => ({
    suffix: '',
    labels,
    value,
  })),
});

/** A metric that only grows, with a number for each set of labels, which have the same names in the same order. */
export class Counter {
  readonly #about: Pick<MetricFamily, 'name' | 'help'>;
  readonly #series = new Map<string, { readonly labels: Labels; value: number }>();

  constructor(name: string, help: string) {
    this.#about = { name, help };
  }

  /** Adds a series at 0, unless it is there. A rate over its first event is right only where it was there before. */
  add(labels: Labels): { value: number } {
    const key = Object.values(labels).join('\0');
    const series = this.#series.get(key) ?? { labels, value: 0 };
    this.#series.set(key, series);
    return series;
  }

  increment(labels: Labels): void {
    this.add(labels).value += 1;
  }

  family(): MetricFamily {
    return {
      ...this.#about,
      type: 'counter',
      samples: [...this.#series.values()].map(({ labels, value }) => ({ suffix: '_total', labels, value })),
    };
  }
}

export class Histogram {
  readonly #bounds: readonly number[];
  /**
   * Counts by the smallest bound that a value does not exceed; the last one is for values above all bounds.
   */
  readonly #counts: Float64Array;
  #sum = 0;

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

  #samples(): Sample[] {
    let count = 0;
    const samples: Sample[] = [];
    for (const [index, added] of this.#counts.entries()) {
      count += added;
      const bound = this.#bounds[index];
      const le = bound === undefined ? '+Inf' : boundText(bound);
      samples.push({ suffix: '_bucket', labels: { le }, value: count });
    }
    samples.push(
      { suffix: '_count', labels: {}, value: count },
      { suffix: '_sum', labels: {}, value: this.#sum },
    );
    return samples;
  }

  family(name: string, help: string): MetricFamily {
    return { name, help, type: 'histogram', samples: this.#samples() };
  }
}

/** Bounds are compared as text: a whole number is written as `1.0` ("Canonical numbers"). */
const boundText = (bound: number): string => (Number.isInteger(bound) ? `${bound}.0` : String(bound));
