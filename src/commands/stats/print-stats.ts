import type { Context } from '../../context.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import { renderFields } from '../../output/fields.ts';
import type { Messages } from '../../output/messages.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { renderTable } from '../../output/table.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import {
  asksForAscii,
  type Palette,
  paletteFor,
  sanitize,
  terminalWidth,
  wrap,
  wrapWidth,
} from '../../output/terminal/terminal.ts';
import { widestOf } from '../../output/text-width.ts';
import type { CheckedExpectation } from '../../stats/expectations.ts';
import { noValue, otherValues } from '../../stats/lead-counts.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import type { Series } from '../../stats/time-series.ts';
import { formatDuration, isoTime } from '../../time/time-text.ts';
import { formatInstant } from '../../time/zone.ts';
import type { CountedLeads } from './count-leads.ts';

/** Values of a field in its table; the others are `(other)`, and all are in the JSON. */
const listedValues = 10;

export interface Stats extends CountedLeads {
  /** Half-open, in milliseconds since the epoch. */
  readonly window: Pick<LeadFilter, 'since' | 'until'>;
  readonly series: Series;
}

/** The tables: the total, the leads by time and by the values of each field, and what is known of their deliveries. */
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
  const startText = (start: number): string => {
    const text = minute(start, zone);
    return unit === 'hour' ? text : text.slice(0, '2026-01-31'.length);
  };
  const rows = buckets.map(({ start, count }) => [startText(start), count] as const);
  return barTable([`${unit.toUpperCase()} (${zone})`, 'LEADS'], rows, leads.total, style);
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
  const attempts = attemptsPerLead === null ? 'none' : `${figureText(attemptsPerLead, 'number')} a lead`;
  const gap =
    longestGap === undefined
      ? 'unknown: nothing came'
      : `${formatDuration(longestGap.ms)}, from ${minute(longestGap.start, style.zone)} ${style.zone}`;
  const fields: readonly (readonly [string, string])[] = [
    ['delay', delays.length === 0 ? 'none was measured' : `${delays.join('  ')} from creation`],
    ['attempts', figures.isAttemptsUpperBound ? `at most ${attempts}` : attempts],
    ['longest gap', gap],
    ...(backfilled === 0 ? [] : [['backfilled', grouped(backfilled)] as const]),
  ];
  return [
    barTable(['DELIVERIES', 'COUNT'], verdicts, received, style),
    barTable(['REJECTED', 'COUNT'], reasons, rejected, style),
    renderFields(fields, { width: style.width, paintName: style.colours.dim }),
  ];
}

function figureText(value: number, unit: CheckedExpectation['expectation']['unit']): string {
  if (unit === 'duration') return formatDuration(value);
  if (unit === 'share') return `${rounded(value * 100)}%`;
  return Number.isInteger(value) ? grouped(value) : rounded(value);
}

const rounded = (value: number): string => String(Number(value.toFixed(2)));

/** Prints each expectation with its value on stderr; a failure is a warning, which `--quiet` lets through. */
export function printChecked(
  checked: readonly CheckedExpectation[],
  messages: Pick<Messages, 'say' | 'warn'>,
): void {
  for (const { expectation, holds, value, isUncertain } of checked) {
    const { text, unit } = expectation;
    const result =
      value === undefined ? 'nothing was received to measure it by' : `it is ${figureText(value, unit)}`;
    const removed = 'the deliveries that are not stored any more';
    const doubt = value === undefined ? `it needs ${removed}` : `${result} without ${removed}`;
    if (holds) messages.say(`${text} holds: ${result}`);
    else if (isUncertain) messages.warn(`whether ${text} holds is not known: ${doubt}`);
    else messages.warn(`${text} does not hold: ${result}`);
  }
}

/** Prints the document of `--format json`; `checked` is undefined without expectations. */
export async function printDocument(
  { window, leads, series, receipts }: Stats,
  checked: readonly CheckedExpectation[] | undefined,
  { stdout }: Pick<Context, 'stdout'>,
): Promise<void> {
  const document = {
    window: { since: isoTime(window.since), until: isoTime(window.until) },
    total: leads.total,
    undated: leads.undated,
    by: Object.fromEntries(leads.ranked(Infinity).map(({ key, rows }) => [key, Object.fromEntries(rows)])),
    bucket: series.unit,
    series: series.buckets.map(({ start, count }) => ({ start: isoTime(start), count })),
    inbox: receipts && receiptsDocument(receipts),
    expect: checked?.map(({ expectation, holds, value }) => ({
      expectation: expectation.text,
      holds,
      seen: value ?? null,
    })),
  };
  await writeJson(stdout, document, 2);
}

const receiptsDocument = (figures: ReceiptFigures) => {
  const { received, accepted, duplicate, rejected, backfilled, delayMs, attemptsPerLead } = figures;
  return {
    ...{ received, accepted, duplicate, rejected, byReason: Object.fromEntries(figures.byReason) },
    ...{ other: figures.other, backfilled, delayMs, attemptsPerLead },
    attemptsPerLeadIsUpperBound: figures.isAttemptsUpperBound,
    longestGapMs: figures.longestGap?.ms ?? null,
  };
};

/** `width` is that of the terminal, undefined in a pipe, where nothing is cut; `columns` is for bars and sentences in both. */
interface ChartStyle {
  readonly width: number | undefined;
  readonly columns: number;
  readonly ascii: boolean;
  readonly colours: Palette;
  readonly zone: string;
}

const shortestLabel = 12;
const shortestBar = 4;
const longestBar = 50;
const spacesBetweenColumns = 3 * 2;

/**
 * A table of counts, each with its share of `total` and a bar; an empty text where there are no rows. A label is cut at two
 * fifths of the columns, and bars get what the other columns leave, or are left out where they could compare nothing.
 */
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
  const longestLabel = Math.max(shortestLabel, Math.floor(columns / 2.5));
  const labelWidth = Math.min(widestOf([title, ...labels.map(sanitize)]), longestLabel);
  const numbersWidth = widestOf([unit, ...counts]) + widestOf(['SHARE', ...shares]);
  const barWidth = Math.min(longestBar, columns - labelWidth - numbersWidth - spacesBetweenColumns);
  // A bar for all other values together would leave no room for the rest.
  const compared = rows.map(([label, count]) => (label === otherValues ? 0 : count));
  const largest = compared.reduce((a, b) => Math.max(a, b), 0);
  const bars = compared.map((count) => (barWidth < shortestBar ? '' : bar(count, largest, barWidth, ascii)));
  const text = renderTable(
    [title, unit, 'SHARE', ''],
    labels.map((label, i) => [label, counts[i] ?? '', shares[i] ?? '', bars[i] ?? '']),
    {
      width,
      cutLast: [unit, 'SHARE', ''],
      rightAligned: [unit, 'SHARE'],
      narrowing: [{ drop: 'SHARE' }],
      head: colours.dim,
      cell: (cell, _, head) => (head === '' ? colours.cyan(cell) : cell),
    },
  );
  return ascii ? text.replaceAll('…', '~') : text;
}

/** In whole percent, where a part is never shown as nothing, nor as all. */
function shareText(count: number, total: number): string {
  if (total <= 0) return '';
  const percent = Math.round((count / total) * 100);
  if (percent === 0 && count > 0) return '<1%';
  return percent === 100 && count < total ? '>99%' : `${percent}%`;
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * Draws `value` of `maximum` as a bar of at most `width` columns, to an eighth of a column, or to a column in
 * plain ASCII. Every value above zero is visible.
 */
export function bar(value: number, maximum: number, width: number, ascii: boolean): string {
  if (value <= 0 || maximum <= 0 || width < 1) return '';
  const stepsPerColumn = ascii ? 1 : 8;
  const share = Math.min(value, maximum) / maximum;
  const steps = Math.max(1, Math.round(share * width * stepsPerColumn));
  if (ascii) return '#'.repeat(steps);
  return '█'.repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? '');
}
