import type { Context } from '../../context.ts';
import { renderFields } from '../../output/fields.ts';
import type { Messages } from '../../output/messages.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import {
  asksForAscii,
  paletteFor,
  sanitize,
  terminalWidth,
  wrap,
  wrapWidth,
} from '../../output/terminal/terminal.ts';
import type { CheckedExpectation } from '../../stats/expectations.ts';
import { noValue } from '../../stats/field-values.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import { formatDuration, isoTime } from '../../time/time-text.ts';
import { formatInstant } from '../../time/zone.ts';
import { barTable, type ChartStyle } from './bar-table.ts';
import type { Stats } from './plan.ts';

/** Values of a field in its table; the others are `(other)`, and all are in the JSON. */
const listedValues = 10;

type StatsStyle = ChartStyle & { readonly zone: string };

/** The tables: the total, the leads by time and by the values of each field, and what is known of their deliveries. */
export async function printTable(stats: Stats, zone: string, context: Context): Promise<void> {
  const { stdout } = context;
  const style: StatsStyle = {
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

function headText({ leads, receipts, window }: Stats, { columns, colours, zone }: StatsStyle): string {
  const { since, until } = window;
  const from = since === undefined ? '' : ` since ${minute(since, zone)} ${zone}`;
  const to = until === undefined ? '' : ` until ${minute(until, zone)} ${zone}`;
  const verb = receipts === undefined ? 'created' : 'received';
  const lines = wrap(`${counted(leads.total, 'lead', 'leads')} ${verb}${from}${to}`, columns);
  return lines.map((line) => `${colours.bold(line)}\n`).join('');
}

const minute = (ms: number, zone: string): string => formatInstant(ms, zone).slice(0, 16).replace('T', ' ');

function seriesText({ series: { unit, buckets }, leads }: Stats, style: StatsStyle): string {
  const { zone } = style;
  const startText = (start: number): string => {
    const text = minute(start, zone);
    return unit === 'hour' ? text : text.slice(0, '2026-01-31'.length);
  };
  const rows = buckets.map(({ start, count }) => [startText(start), count] as const);
  return barTable([`${unit.toUpperCase()} (${zone})`, 'LEADS'], rows, leads.total, style);
}

function receiptTexts(figures: ReceiptFigures, style: StatsStyle): readonly string[] {
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
