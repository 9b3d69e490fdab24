import type { Host } from '../host.ts';
import { write } from './stdout.ts';
import { paletteFor, sanitize, terminalWidth } from './terminal/terminal.ts';
import { textWidth, truncate, widestOf } from './text-width.ts';

export interface TableOptions extends FitOptions {
  /** The columns of the terminal; undefined when piped, where nothing is cut. */
  readonly width: number | undefined;
  readonly head?: (text: string) => string;
  /** Colours a cell that was sanitized, cut and padded before. */
  readonly cell?: (text: string, row: number, head: string) => string;
  /** Leaves out columns without any text; `onDrop` is not told of them. */
  readonly hidesEmpty?: boolean;
  /** Receives the heads of the columns that did not fit, if any. */
  readonly onDrop?: (heads: readonly string[]) => void;
}

/**
 * Draws rows as aligned columns without borders, sanitized, ending in a newline. On a terminal a row fits its
 * width: first the steps of `narrowing` are taken, then the widest columns are cut, and a cut cell ends in
 * `…`. Wide characters and emoji count as the columns that they take.
 */
export function renderTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string {
  const all = heads
    .map((head, i) => ({ head, cells: rows.map((row) => sanitize(row[i] ?? '')) }))
    .filter(({ cells }) => options.hidesEmpty !== true || cells.some((cell) => cell !== ''));
  const columns = fitColumns(all, options.width, options);
  const dropped = all
    .map(({ head }) => head)
    .filter((head) => columns.every((column) => column.head !== head));
  if (dropped.length > 0) options.onDrop?.(dropped);
  const { head: paintHead = same, cell: paint = same } = options;
  const line = (cells: readonly string[]): string => `${cells.join(gap).trimEnd()}\n`;
  const padded = ({ head, width }: FittedColumn, text: string): string =>
    pad(text, width, options.right?.includes(head));
  return [
    line(columns.map((column) => paintHead(padded(column, column.head)))),
    ...rows.map((_, r) =>
      line(columns.map((column) => paint(padded(column, column.cells[r] ?? ''), r, column.head))),
    ),
  ].join('');
}

/** Draws the table on stdout in its width, with a dim head. */
export async function writeTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  fit: FitOptions,
  context: Pick<Host, 'stdout' | 'env'> & { readonly globals: { readonly color: boolean } },
): Promise<void> {
  const { stdout } = context;
  const { dim } = await paletteFor(stdout, context);
  await write(stdout, renderTable(heads, rows, { ...fit, width: terminalWidth(stdout), head: dim }));
}

const same = (text: string): string => text;

function pad(text: string, width: number, isRight = false): string {
  const cell = truncate(text, width);
  const space = ' '.repeat(Math.max(0, width - textWidth(cell)));
  return isRight ? space + cell : cell + space;
}

interface Column {
  readonly head: string;
  readonly cells: readonly string[];
}

/** Drops the column with this head, or shortens its times. */
export type NarrowingStep = { readonly drop: string } | { readonly shorten: string };

export interface FitOptions {
  /** The heads of columns such as ids and times, which are cut last. */
  readonly whole?: readonly string[];
  /** The heads of columns of numbers, which end at the same place. */
  readonly right?: readonly string[];
  /** Steps for a narrow terminal: they are taken in this order, and only as many as are needed. */
  readonly narrowing?: readonly NarrowingStep[];
}

interface FittedColumn extends Column {
  readonly width: number;
}

const gap = '  ';
/** No column is cut to fewer columns of the terminal than this. */
const narrowest = 6;
/** Before a column is cut to fewer columns of the terminal than this, the steps of `narrowing` are taken. */
const readable = 12;

interface Measured extends Column {
  readonly natural: number;
  readonly whole: boolean;
}

function fitColumns(
  all: readonly Column[],
  width: number | undefined,
  { whole = [], narrowing = [] }: FitOptions,
): readonly FittedColumn[] {
  const toMeasured = ({ head, cells }: Column): Measured => ({
    head,
    cells,
    natural: widestOf([head, ...cells]),
    whole: whole.includes(head),
  });
  let columns = all.map(toMeasured);
  if (width === undefined) return columns.map((column) => ({ ...column, width: column.natural }));
  for (const step of narrowing) {
    if (sum(columns.map(leastWidth)) <= roomFor(columns, width)) break;
    columns =
      'drop' in step
        ? columns.filter(({ head }) => head !== step.drop)
        : columns.map((column) =>
            column.head === step.shorten
              ? toMeasured({ ...column, cells: shortTimes(column.cells) })
              : column,
          );
  }
  return narrowed(columns, roomFor(columns, width));
}

const leastWidth = ({ whole, natural }: Measured): number => (whole ? natural : Math.min(natural, readable));

const roomFor = (columns: readonly Measured[], width: number): number =>
  width - gap.length * (columns.length - 1);

/** Makes the widest column one character narrower until all fit. Whole columns are cut only when no other can be. */
function narrowed(columns: readonly Measured[], room: number): FittedColumn[] {
  const widths = columns.map(({ natural }) => natural);
  let excess = sum(widths) - room;
  for (const sparing of [true, false]) {
    for (; excess > 0; excess -= 1) {
      const candidates = widths.map((columnWidth, i) =>
        sparing && columns[i]?.whole === true ? 0 : columnWidth,
      );
      const widest = Math.max(...candidates);
      if (widest <= narrowest) break;
      widths[candidates.indexOf(widest)] = widest - 1;
    }
  }
  return columns.map((column, i) => ({ ...column, width: widths[i] ?? 0 }));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const isoTime = /^\d{4}-(\d\d-\d\d)T(\d\d:\d\d:\d\d)/;

/**
 * Shortens the ISO 8601 times of a column to `HH:MM:SS`, with month and day where they are not all of one
 * day.
 */
export function shortTimes(cells: readonly string[]): string[] {
  const days = new Set(cells.filter((cell) => isoTime.test(cell)).map((cell) => cell.slice(0, 10)));
  return cells.map((cell) => {
    const [, day, time] = isoTime.exec(cell) ?? [];
    if (day === undefined || time === undefined) return cell;
    return days.size === 1 ? time : `${day} ${time}`;
  });
}
