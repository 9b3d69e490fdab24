import type { Context } from '../../context.ts';
import { renderFields } from '../../output/fields.ts';
import type { Messages } from '../../output/messages.ts';
import { write } from '../../output/stdout.ts';
import { renderTable } from '../../output/table.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import {
  asksForAscii,
  type Palette,
  paletteFor,
  sanitize,
  terminalWidth,
  wrapWidth,
  wrap,
} from '../../output/terminal/terminal.ts';
import { widestOf } from '../../output/text-width.ts';
import type { CheckedExpectation } from '../../stats/expectations.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import { noValue, otherValues } from '../../stats/value-counts.ts';
import { formatDuration } from '../../time/time-text.ts';
import { formatInstant } from '../../time/zone.ts';
import type { Stats } from './plan.ts';

interface ChartStyle {
  /** Columns of the terminal; undefined in a pipe, where nothing is cut. */
  readonly width: number | undefined;
  /** Columns for bars and sentences, in a pipe as well. */
  readonly columns: number;
  readonly ascii: boolean;
  readonly colours: Palette;
  readonly zone: string;
}

/** Values of a field in its table; the others are `(other)`, and all are in the JSON. */
const listedValues = 10;

export async function printTable(stats: Stats, zone: string, context: Context): Promise<void> {
  const { stdout } = context;
  const style: ChartStyle = {
    width: terminalWidth(stdout),
    columns: wrapWidth(stdout),
    ascii: asksForAscii(context),
    colours: await paletteFor(stdout, context),
    zone,
  };
  const { leads, receipts } = stats;
  const facets = leads.ranked(listedValues).filter(({ rows }) => rows.some(([value]) => value !== noValue));
  const sections = [
    headText(stats, style),
    seriesText(stats, style),
    ...facets.map(({ title, rows }) => barTable([sanitize(title), 'LEADS'], rows, leads.total, style)),
    ...(receipts === undefined ? [] : receiptTexts(receipts, style)),
  ].filter((text) => text !== '');
  await write(stdout, sections.join('\n'));
}

function headText({ leads, receipts, window }: Stats, { columns, colours, zone }: ChartStyle): string {
  const { since, until } = window;
  const from = since === undefined ? '' : ` since ${minute(since, zone)} ${zone}`;
  const to = until === undefined ? '' : ` until ${minute(until, zone)} ${zone}`;
  const verb = receipts === undefined ? 'created' : 'received';
  const lines = wrap(`${counted(leads.total, 'lead', 'leads')} ${verb}${from}${to}`, columns);
  return lines.map((line) => `${colours.bold(line)}\n`).join('');
}

const minute = (ms: number, zone: string): string => formatInstant(ms, zone).slice(0, 16).replace('T', ' ');

function seriesText({ series: { unit, buckets }, leads }: Stats, style: ChartStyle): string {
  const { zone } = style;
  // An hour needs its time, a day or a week the date alone.
  const length = unit === 'hour' ? 16 : 10;
  const rows = buckets.map(({ start, count }) => [minute(start, zone).slice(0, length), count] as const);
  return barTable([`${unit.toUpperCase()} (${zone})`, 'LEADS'], rows, leads.total, style);
}

const leastLabel = 12;
const leastBar = 4;
const mostBar = 50;

function barTable(
  [title, unit]: readonly [title: string, unit: string],
  rows: readonly (readonly [label: string, count: number])[],
  total: number,
  { width, columns, ascii, colours }: ChartStyle,
): string {
  if (rows.length === 0) return '';
  const counts = rows.map(([, count]) => grouped(count));
  const shares = rows.map(([, count]) => shareText(count, total));
  const labels = rows.map(([label]) => (label === '' ? '""' : label));
  const labelWidth = Math.min(
    widestOf([title, ...labels.map(sanitize)]),
    Math.max(leastLabel, Math.floor(columns / 2.5)),
  );
  const barWidth = Math.min(
    mostBar,
    columns - labelWidth - widestOf([unit, ...counts]) - widestOf(['SHARE', ...shares]) - 6,
  );
  // A bar for all other values together would leave no room for the rest.
  const compared = rows.map(([label, count]) => (label === otherValues ? 0 : count));
  const largest = compared.reduce((a, b) => Math.max(a, b), 0);
  const bars = compared.map((count) => (barWidth < leastBar ? '' : bar(count, largest, barWidth, ascii)));
  const text = renderTable(
    [title, unit, 'SHARE', ''],
    labels.map((label, i) => [label, counts[i] ?? '', shares[i] ?? '', bars[i] ?? '']),
    {
      width,
      whole: [unit, 'SHARE', ''],
      right: [unit, 'SHARE'],
      narrowing: [{ drop: 'SHARE' }],
      head: colours.dim,
      cell: (cell, _, head) => (head === '' ? colours.cyan(cell) : cell),
    },
  );
  return ascii ? text.replaceAll('…', '~') : text;
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * Draws `value` of `maximum` as a bar of at most `width` columns, to an eighth of a column, or to a column in
 * plain ASCII. Every value above zero is visible.
 */
export function bar(value: number, maximum: number, width: number, ascii: boolean): string {
  if (value <= 0 || maximum <= 0 || width < 1) return '';
  const steps = Math.max(1, Math.round((Math.min(value, maximum) / maximum) * width * (ascii ? 1 : 8)));
  if (ascii) return '#'.repeat(steps);
  return '█'.repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? '');
}

function receiptTexts(figures: ReceiptFigures, style: ChartStyle): readonly string[] {
  const { accepted, duplicate, rejected, received, backfilled } = figures;
  const { delayMs, attemptsPerLead, longestGap } = figures;
  const counts = Object.entries({ accepted, duplicate, rejected, other: figures.other });
  const verdicts = counts.filter(([verdict, count]) => verdict !== 'other' || count > 0);
  const reasons = [...figures.byReason].sort(([, a], [, b]) => b - a);
  const delays = Object.entries(delayMs).flatMap(([name, ms]: readonly [string, number | null]) =>
    ms === null ? [] : [`${name} ${formatDuration(ms)}`],
  );
  const gap =
    longestGap === undefined
      ? 'unknown: nothing came'
      : `${formatDuration(longestGap.ms)}, from ${minute(longestGap.start, style.zone)} ${style.zone}`;
  const fields: readonly (readonly [string, string])[] = [
    ['delay', delays.length === 0 ? 'none was measured' : `${delays.join('  ')} from creation`],
    ['attempts', attemptsPerLead === null ? 'none' : `${figureText(attemptsPerLead, 'number')} a lead`],
    ['longest gap', gap],
    ...(backfilled === 0 ? [] : [['backfilled', grouped(backfilled)] as const]),
  ];
  return [
    barTable(['DELIVERIES', 'COUNT'], verdicts, received, style),
    barTable(['REJECTED', 'COUNT'], reasons, rejected, style),
    renderFields(fields, { width: style.width, name: style.colours.dim }),
  ];
}

function figureText(value: number, unit: CheckedExpectation['expectation']['unit']): string {
  if (unit === 'duration') return formatDuration(value);
  if (unit === 'share') return `${rounded(value * 100)}%`;
  return Number.isInteger(value) ? grouped(value) : rounded(value);
}

const rounded = (value: number): string => String(Number(value.toFixed(2)));

/** In whole percent, where a part is never shown as nothing, nor as all. */
function shareText(count: number, total: number): string {
  if (total <= 0) return '';
  const percent = Math.round((count / total) * 100);
  if (percent === 0 && count > 0) return '<1%';
  return percent === 100 && count < total ? '>99%' : `${percent}%`;
}

/** Prints each expectation with its value on stderr; a failure is a warning, which `--quiet` lets through. */
export function printChecked(
  checked: readonly CheckedExpectation[],
  messages: Pick<Messages, 'say' | 'warn'>,
): void {
  for (const { expectation, holds, value, isDoubtful } of checked) {
    const { text, unit } = expectation;
    const result =
      value === undefined ? 'nothing was received to measure it by' : `it is ${figureText(value, unit)}`;
    const without = 'the deliveries that are not stored any more';
    const doubt = value === undefined ? `it needs ${without}` : `${result} without ${without}`;
    if (holds) messages.say(`${text} holds: ${result}`);
    else if (isDoubtful) messages.warn(`whether ${text} holds is not known: ${doubt}`);
    else messages.warn(`${text} does not hold: ${result}`);
  }
}
