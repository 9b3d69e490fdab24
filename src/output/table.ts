import type { Host } from '../host.ts';
import { write } from './stdout.ts';
import { paletteFor, sanitize, terminalWidth } from './terminal/terminal.ts';
import { textWidth, truncate, widestOf } from './text-width.ts';

/**
 * How columns, which are named by their heads, fit a narrow terminal. The steps of `narrowing` are taken in their order, and
 * only as many as are needed; then columns are cut, and those of `cutLast`, such as ids and times, only where no other can be.
 */
export interface FitOptions {
  readonly cutLast?: readonly string[];
  readonly rightAligned?: readonly string[];
  readonly narrowing?: readonly NarrowingStep[];
}

/** Drops the column with this head, or shortens its times. */
export type NarrowingStep = { readonly drop: string } | { readonly shorten: string };

export interface TableOptions extends FitOptions {
  /** The columns of the terminal; undefined when piped, where nothing is cut. */
  readonly width: number | undefined;
  readonly head?: (text: string) => string;
  /** Colours a cell that was sanitized, cut and padded before. */
  readonly cell?: (text: string, row: number, head: string) => string;
  /** Leaves out columns without any text; `onDrop` does not receive them. */
  readonly hidesEmpty?: boolean;
  /** Receives the heads of the columns that did not fit, if any. */
  readonly onDrop?: (heads: readonly string[]) => void;
}

/**
 * Draws rows as aligned columns without borders, sanitized, ending in a newline. On a terminal a row fits its width, and a cut
 * cell ends in `…`. Wide characters and emoji count as the columns that they take.
 */
export function renderTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string {
  const cellsOf = (i: number): string[] => rows.map((row) => sanitize(row[i] ?? ''));
  const all = heads
    .map((head, i) => measuredColumn(head, cellsOf(i)))
    .filter(({ cells }) => options.hidesEmpty !== true || cells.some((cell) => cell !== ''));
  const columns = fitColumns(all, options.width, options);
  const dropped = all
    .map(({ head }) => head)
    .filter((head) => columns.every((column) => column.head !== head));
  if (dropped.length > 0) options.onDrop?.(dropped);
  const { head: paintHead = unpainted, cell: paintCell = unpainted } = options;
  const line = (cells: readonly string[]): string => `${cells.join(gap).trimEnd()}\n`;
  const padded = ({ head, width }: Column, text: string): string =>
    pad(text, width, options.rightAligned?.includes(head));
  return [
    line(columns.map((column) => paintHead(padded(column, column.head)))),
    ...rows.map((_, row) =>
      line(columns.map((column) => paintCell(padded(column, column.cells[row] ?? ''), row, column.head))),
    ),
  ].join('');
}

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

const unpainted = (text: string): string => text;

function pad(text: string, width: number, isRightAligned = false): string {
  const cell = truncate(text, width);
  const space = ' '.repeat(Math.max(0, width - textWidth(cell)));
  return isRightAligned ? space + cell : cell + space;
}

/** A column, and the columns of the terminal that it takes. */
interface Column {
  readonly head: string;
  readonly cells: readonly string[];
  readonly width: number;
}

const measuredColumn = (head: string, cells: readonly string[]): Column => ({
  head,
  cells,
  width: widestOf([head, ...cells]),
});

const gap = '  ';
/** No column is cut to less than `narrowest`; before one is cut to less than `readable`, a step of `narrowing` is taken. */
const [narrowest, readable] = [6, 12];

function fitColumns(
  all: readonly Column[],
  width: number | undefined,
  { cutLast = [], narrowing = [] }: FitOptions,
): readonly Column[] {
  if (width === undefined) return all;
  const isCutLast = ({ head }: Column): boolean => cutLast.includes(head);
  const readableWidth = (column: Column): number =>
    isCutLast(column) ? column.width : Math.min(column.width, readable);
  const roomFor = (columns: readonly Column[]): number => width - gap.length * (columns.length - 1);
  let columns = all;
  for (const step of narrowing) {
    if (sum(columns.map(readableWidth)) <= roomFor(columns)) break;
    columns =
      'drop' in step
        ? columns.filter(({ head }) => head !== step.drop)
        : columns.map((column) =>
            column.head === step.shorten ? measuredColumn(column.head, shortTimes(column.cells)) : column,
          );
  }
  return cutToRoom(columns, roomFor(columns), isCutLast);
}

/** Makes the widest column one character narrower until all fit, at first of those that are not cut last, and then of all. */
function cutToRoom(
  columns: readonly Column[],
  room: number,
  isCutLast: (column: Column) => boolean,
): readonly Column[] {
  const widths = columns.map(({ width }) => width);
  let excess = sum(widths) - room;
  for (const mayCut of [(column: Column) => !isCutLast(column), () => true]) {
    for (; excess > 0; excess -= 1) {
      const candidates = columns.map((column, i) => (mayCut(column) ? (widths[i] ?? 0) : 0));
      const widest = Math.max(...candidates);
      if (widest <= narrowest) break;
      widths[candidates.indexOf(widest)] = widest - 1;
    }
  }
  return columns.map((column, i) => ({ ...column, width: widths[i] ?? 0 }));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Shortens ISO 8601 times to `MM-DD HH:MM:SS`: nothing else in a table says of which day they are. */
export const shortTimes = (cells: readonly string[]): string[] =>
  cells.map((cell) => cell.replace(/^\d{4}-(\d\d-\d\d)T(\d\d:\d\d:\d\d).*$/s, '$1 $2'));
