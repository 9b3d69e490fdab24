/** The names and values that tell one series from another. Values from a request would make series without end. */
type Labels = Readonly<Record<string, string>>;

/** A line of a family, whose name is the family's name and the suffix. */
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
export function gauge(
  name: string,
  help: string,
  value: number | readonly (readonly [labels: Labels, value: number])[],
): MetricFamily {
  const series = typeof value === 'number' ? [[{}, value] as const] : value;
  const samples = series.map(([labels, number]) => ({ suffix: '' as const, labels, value: number }));
  return { name, type: 'gauge', help, samples };
}

/** A metric that only grows, with a number for each set of labels. All sets have the same names in the same order. */
export class Counter {
  readonly #about: Pick<MetricFamily, 'name' | 'help'>;
  readonly #seriesByLabels = new Map<string, { readonly labels: Labels; value: number }>();

  constructor(name: string, help: string) {
    this.#about = { name, help };
  }

  /** Adds a series at 0, unless it is there, and returns it. A series that begins at its first event hides that event from rates. */
  add(labels: Labels): { value: number } {
    const key = Object.values(labels).join('\0');
    const series = this.#seriesByLabels.get(key) ?? { labels, value: 0 };
    this.#seriesByLabels.set(key, series);
    return series;
  }

  increment(labels: Labels): void {
    this.add(labels).value += 1;
  }

  family(): MetricFamily {
    return {
      ...this.#about,
      type: 'counter',
      samples: [...this.#seriesByLabels.values()].map(({ labels, value }) => ({
        suffix: '_total',
        labels,
        value,
      })),
    };
  }
}

/** Counts observed values. In the format, a bucket counts each value that is not larger than its bound, and the last bucket all. */
export class Histogram {
  readonly #buckets: { readonly bound: number; count: number }[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#buckets = [...bounds, Infinity].map((bound) => ({ bound, count: 0 }));
  }

  observe(value: number): void {
    for (const bucket of this.#buckets) if (value <= bucket.bound) bucket.count += 1;
    this.#sum += value;
  }

  family(name: string, help: string): MetricFamily {
    const buckets = this.#buckets.map(({ bound, count }): Sample => ({
      suffix: '_bucket',
      labels: { le: boundText(bound) },
      value: count,
    }));
    const count = this.#buckets.at(-1)?.count ?? 0;
    const totals: readonly Sample[] = [
      { suffix: '_count', labels: {}, value: count },
      { suffix: '_sum', labels: {}, value: this.#sum },
    ];
    return { name, help, type: 'histogram', samples: [...buckets, ...totals] };
  }
}

/** Bounds are compared as text: a whole number is written as `1.0` ("Canonical numbers"). */
function boundText(bound: number): string {
  if (bound === Infinity) return '+Inf';
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}
