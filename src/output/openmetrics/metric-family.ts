/** Names and values of one series. Every value comes from a closed list or from the command line, never from a request. */
export type Labels = Readonly<Record<string, string>>;

/** One line of a family: its name is the family's with the suffix that the type asks for. */
export interface Sample {
  readonly suffix: '' | '_total' | '_bucket' | '_sum' | '_count' | '_info';
  readonly labels: Labels;
  readonly value: number;
}

/** One metric with all its series. */
export interface MetricFamily {
  /** Without a suffix; it ends in the unit where there is one. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'info';
  readonly unit?: 'seconds' | 'bytes' | undefined;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Of `openMetricsText`, for the header `content-type`. */
export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/**
 * The families in the text format of OpenMetrics 1.0
 * (https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md, "Text format").
 */
export function openMetricsText(families: readonly MetricFamily[]): string {
  return `${families.map(familyText).join('')}# EOF\n`;
}

function familyText({ name, type, unit, help, samples }: MetricFamily): string {
  const lines = [`# TYPE ${name} ${type}`];
  if (unit !== undefined) lines.push(`# UNIT ${name} ${unit}`);
  lines.push(`# HELP ${name} ${escaped(help)}`);
  for (const { suffix, labels, value } of samples) {
    lines.push(`${name}${suffix}${labelsText(labels)} ${numberText(value)}`);
  }
  return `${lines.join('\n')}\n`;
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

const escaped = (text: string): string => text.replace(/[\\"\n]/g, (character) => escapes[character] ?? '');

export function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

/** A family of one value without labels, or of one for each of several labels. */
export const gauge = (
  { name, unit, help }: Pick<MetricFamily, 'name' | 'unit' | 'help'>,
  values: number | readonly (readonly [labels: Labels, value: number])[],
): MetricFamily => ({
  name,
  type: 'gauge',
  unit,
  help,
  samples: (typeof values === 'number' ? [[{}, values] as const] : values).map(([labels, value]) => ({
    suffix: '',
    labels,
    value,
  })),
});
