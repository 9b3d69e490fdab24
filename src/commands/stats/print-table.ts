import type { Context } from '../../context.ts';
import { bar, sparkline } from '../../output/chart.ts';
import { renderFields } from '../../output/fields.ts';
import { write } from '../../output/stdout.ts';
import {
  asksForAscii,
  type Palette,
  paletteFor,
  terminalWidth,
  wrapWidth,
  sanitize,
} from '../../output/terminal/terminal.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { textWidth, truncate, widestOf } from '../../output/table.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import type { BucketUnit, Series } from '../../stats/time-buckets.ts';
import { noValue, otherValues } from '../../stats/value-counts.ts';
import { formatDuration } from '../../time/time-text.ts';
import { formatInstant } from '../../time/zone.ts';
import { wrap } from '../../output/wrap.ts';
import { figureText, shareText } from './figure-text.ts';
import type { CountedWindow, Window } from './plan.ts';
import { type RankedFacet, rankedFacets, rankedMatrix, type RankedMatrix } from './ranked.ts';

/** Everything that was counted, for a person: sections with bars that fit the terminal, or 80 columns in a pipe. */
export async function printTable(
  window: CountedWindow,
  top: number,
  zone: string,
  context: Context,
): Promise<void> {
  const { stdout } = context;
  const style: ChartStyle = {
    width: wrapWidth(stdout),
    cutsLabels: terminalWidth(stdout) !== undefined,
    ascii: asksForAscii(context),
    colours: await paletteFor(stdout, context),
    zone,
  };
  const sections = [
    headLines(window, style),
    seriesSection(window, style),
    ...facetSections(window, top, style),
    matrixSection(window, top, style),
    window.receipts === undefined ? [] : receiptsSection(window.receipts, style),
  ].filter((lines) => lines.length > 0);
  const text = sections.map((lines) => lines.map((line) => line.trimEnd()).join('\n')).join('\n\n');
  await write(stdout, `${text}\n`);
}

function headLines(
  { leads, receipts, window }: CountedWindow,
  { width, colours, zone }: ChartStyle,
): string[] {
  const verb = receipts === undefined ? 'created' : 'received';
  const head = `${counted(leads.total, 'lead', 'leads')} ${verb} ${windowText(window, zone)}`;
  return wrap(head, width).map((line) => colours.bold(line));
}

function windowText({ since, until }: Window, zone: string): string {
  if (until === undefined) return since === undefined ? 'so far' : `since ${minute(since, zone)} ${zone}`;
  if (since === undefined) return `before ${minute(until, zone)} ${zone}`;
  return `from ${minute(since, zone)} to ${minute(until, zone)} ${zone}`;
}

const minute = (ms: number, zone: string): string => formatInstant(ms, zone).slice(0, 16).replace('T', ' ');

function facetSections(window: CountedWindow, top: number, style: ChartStyle): string[][] {
  return rankedFacets(window, top)
    .filter((facet) => !isAbsent(facet))
    .map(({ title, rows }) =>
      barSection(
        title,
        'LEADS',
        rows.map(({ value, count }) => ({
          label: value === '' ? '""' : value,
          count,
          isRest: value === otherValues,
        })),
        window.leads.total,
        style,
      ),
    );
}

/** A field that no lead has says nothing. */
const isAbsent = ({ rows }: RankedFacet): boolean => rows.every(({ value }) => value === noValue);

/** More buckets than that are a line, without a bar for each. */
const mostBars = 31;

/** Columns of a line over all buckets, on the widest terminal. */
const longestLine = 100;

/** Leads by time: a line over all of it, and a bar for each hour, day or week where they are few. */
function seriesSection({ series, leads }: CountedWindow, style: ChartStyle): string[] {
  const { unit, buckets } = series;
  const lines = lineOf(series, style);
  if (buckets.length === 0 || buckets.length > mostBars) return lines;
  const title = `${unit.toUpperCase()} (${style.zone})`;
  const rows = buckets.map(({ start, count }) => ({ label: bucketLabel(start, unit, style.zone), count }));
  return [
    ...lines,
    ...(lines.length > 0 ? [''] : []),
    ...barSection(title, 'LEADS', rows, leads.total, style),
  ];
}

function lineOf({ unit, buckets }: Series, { width, ascii, colours, zone }: ChartStyle): string[] {
  const [first, second] = buckets;
  const last = buckets.at(-1);
  if (first === undefined || second === undefined || last === undefined) return [];
  const peak = buckets.reduce((most, one) => (one.count > most.count ? one : most), first);
  const line = sparkline(
    buckets.map(({ count }) => count),
    Math.min(width, longestLine),
    ascii,
  );
  const together = Math.ceil(buckets.length / Math.min(width, longestLine));
  const step = together > 1 ? `${together} ${unit}s a mark` : `by ${unit}`;
  const most =
    peak.count === 0
      ? 'none'
      : `most in one ${unit}: ${grouped(peak.count)}, ${bucketLabel(peak.start, unit, zone)}`;
  const span = `${bucketLabel(first.start, unit, zone)} to ${bucketLabel(last.start, unit, zone)} ${zone}`;
  return [colours.cyan(line), ...wrap(`${step}, ${span}; ${most}`, width).map((text) => colours.dim(text))];
}

/** `2026-01-31`, or with the hour. */
const bucketLabel = (start: number, unit: BucketUnit, zone: string): string =>
  minute(start, zone).slice(0, unit === 'hour' ? undefined : 10);

const gap = '  ';
const widestHead = 14;

/** Leads by two fields, with as many columns as fit; the rest is `(other)`. */
function matrixSection(window: CountedWindow, top: number, style: ChartStyle): string[] {
  // A column takes four columns of the terminal at least.
  for (let columns = style.cutsLabels ? Math.min(top, Math.ceil(style.width / 4)) : top; ; columns -= 1) {
    const matrix = rankedMatrix(window, top, columns);
    if (matrix === undefined || matrix.rows.length === 0) return [];
    columns = Math.min(columns, matrix.columns.length);
    const lines = drawn(matrix, style);
    const widest = widestOf(lines);
    if (columns <= 1 || !style.cutsLabels || widest <= style.width) {
      return [style.colours.dim(lines[0] ?? ''), ...lines.slice(1)];
    }
  }
}

function drawn({ rowKey, columnKey, rows, columns, cells }: RankedMatrix, style: ChartStyle): string[] {
  const { ascii, cutsLabels, width } = style;
  const title = sanitize(`${rowKey} by ${columnKey}`);
  const labels = rows.map((row) => sanitize(row === '' ? '""' : row));
  const natural = widestOf([title, ...labels]);
  const labelWidth = cutsLabels ? Math.min(natural, Math.max(12, Math.floor(width / 3))) : natural;
  const texts = cells.map((row) => row.map(grouped));
  const widths = columns.map((column, c) => {
    const head = textWidth(sanitize(column));
    const cell = widestOf(texts.map((row) => row[c] ?? ''));
    return Math.max(cutsLabels ? Math.min(head, widestHead) : head, cell);
  });
  const heads = columns.map((column, c) => {
    const own = widths[c] ?? 0;
    const cut = padded(sanitize(column), own, ascii).trimEnd();
    return gap + ' '.repeat(Math.max(0, own - textWidth(cut))) + cut;
  });
  return [
    padded(title, labelWidth, ascii) + heads.join(''),
    ...labels.map(
      (label, r) =>
        padded(label, labelWidth, ascii) +
        columns.map((_, c) => gap + (texts[r]?.[c] ?? '').padStart(widths[c] ?? 0)).join(''),
    ),
  ];
}

/** Deliveries by verdict and reason, how late they came, how often, and the longest silence. */
function receiptsSection(figures: ReceiptFigures, style: ChartStyle): string[] {
  const verdicts = (['accepted', 'duplicate', 'rejected', 'other'] as const)
    .map((verdict) => ({ label: verdict, count: figures[verdict] }))
    .filter(({ label, count }) => label !== 'other' || count > 0);
  const rejections = [...figures.byReason]
    .map(([label, count]) => ({ label, count }))
    .sort((a, b) => b.count - a.count);
  const width = style.cutsLabels ? style.width : undefined;
  return [
    ...barSection('DELIVERIES', 'COUNT', verdicts, figures.received, style),
    ...(rejections.length === 0
      ? []
      : ['', ...barSection('REJECTED', 'COUNT', rejections, figures.rejected, style)]),
    '',
    ...renderFields(fieldsOf(figures, style.zone), { width, name: style.colours.dim }).trimEnd().split('\n'),
  ];
}

function fieldsOf(figures: ReceiptFigures, zone: string): (readonly [string, string])[] {
  const { delayMs, attemptsPerLead, longestGap, backfilled } = figures;
  const shares = Object.entries(delayMs).flatMap(([name, ms]: readonly [string, number | null]) =>
    ms === null ? [] : [`${name} ${formatDuration(ms)}`],
  );
  const gap =
    longestGap === undefined
      ? 'unknown: nothing came'
      : `${formatDuration(longestGap.ms)}, from ${minute(longestGap.start, zone)} ${zone}`;
  return [
    ['delay', shares.length === 0 ? 'none was measured' : `${shares.join('  ')} from creation`],
    ['attempts', attemptsPerLead === null ? 'none' : `${figureText(attemptsPerLead, 'number')} a lead`],
    ['longest gap', gap],
    ...(backfilled === 0 ? [] : [['backfilled', figureText(backfilled, 'number')] as const]),
  ];
}

/** How the table is drawn. */
interface ChartStyle {
  /** Columns to fit into. */
  readonly width: number;
  /** In a pipe nothing is cut. */
  readonly cutsLabels: boolean;
  readonly ascii: boolean;
  readonly colours: Palette;
  /** In which times are shown. */
  readonly zone: string;
}

interface BarRow {
  readonly label: string;
  readonly count: number;
  /** All other values together: a bar as long as theirs would leave none for the others. */
  readonly isRest?: boolean;
}

interface NumberColumn {
  readonly head: string;
  readonly cells: readonly string[];
}

const leastLabel = 8;
const leastBar = 4;
/** Longer bars are no easier to compare. */
const mostBar = 50;

/** Rows with a label, a count, its share of `total` and a bar; under a head. */
function barSection(
  title: string,
  unit: string,
  rows: readonly BarRow[],
  total: number,
  style: ChartStyle,
): string[] {
  const { width, ascii, colours } = style;
  const columns = fittingColumns(numberColumns(unit, rows, total), width);
  const widths = columns.map(widthOf);
  const numbersWidth = widths.reduce((sum, own) => sum + gap.length + own, 0);
  const labels = rows.map(({ label }) => sanitize(label));
  const natural = widestOf([sanitize(title), ...labels]);
  const roomForLabel = Math.max(
    leastLabel,
    Math.min(width - numbersWidth, Math.max(Math.floor(width / 2.5), 12)),
  );
  const labelWidth = style.cutsLabels ? Math.min(natural, roomForLabel) : natural;
  const roomForBar = Math.min(
    mostBar,
    width - Math.min(labelWidth, roomForLabel) - numbersWidth - gap.length,
  );
  const most = rows.reduce(
    (largest, { count, isRest }) => (isRest === true ? largest : Math.max(largest, count)),
    0,
  );
  const numbersOf = (cellOf: (column: NumberColumn) => string): string =>
    columns.map((column, i) => gap + cellOf(column).padStart(widths[i] ?? 0)).join('');
  const head = padded(sanitize(title), labelWidth, ascii) + numbersOf((column) => column.head);
  return [
    colours.dim(head),
    ...rows.map(({ count, isRest }, r) => {
      const drawn = isRest === true || roomForBar < leastBar ? '' : bar(count, most, roomForBar, ascii);
      const text = padded(labels[r] ?? '', labelWidth, ascii) + numbersOf(({ cells }) => cells[r] ?? '');
      return drawn === '' ? text : text + gap + colours.cyan(drawn);
    }),
  ];
}

const numberColumns = (unit: string, rows: readonly BarRow[], total: number): NumberColumn[] => [
  { head: unit, cells: rows.map(({ count }) => grouped(count)) },
  { head: 'SHARE', cells: rows.map(({ count }) => shareText(count, total)) },
];

const widthOf = ({ head, cells }: NumberColumn): number => widestOf([head, ...cells]);

/** A narrow terminal does without the share, so that labels can be read. */
function fittingColumns(columns: readonly NumberColumn[], width: number): readonly NumberColumn[] {
  const taken = columns.reduce((sum, column) => sum + gap.length + widthOf(column), 0);
  return width - taken >= 2 * leastLabel ? columns : columns.filter(({ head }) => head !== 'SHARE');
}

/** Cut and filled up to a width; where only ASCII is wanted, `~` stands for what was cut. */
function padded(text: string, width: number, ascii: boolean): string {
  const cut = truncate(text, width);
  const shown = ascii && cut !== text ? cut.replace(/…$/, '~') : cut;
  return shown + ' '.repeat(Math.max(0, width - textWidth(shown)));
}
