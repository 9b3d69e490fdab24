import measure from 'fast-string-truncated-width';
import type { Host } from '../host.ts';
import { write } from './stdout.ts';
import { paletteFor, terminalWidth, sanitize } from './terminal/terminal.ts';

export interface TableOptions extends FitOptions {
  /** Columns of the terminal; undefined when piped: then nothing is cut. */
  readonly width: number | undefined;
  /** Draws a cell of the head; for colours. */
  readonly head?: (text: string) => string;
  /** Draws one cell that was already sanitized, cut and padded; for colours. */
  readonly cell?: (text: string, row: number, head: string) => string;
  /** Leaves columns out that have no text in any row. */
  readonly hidesEmpty?: boolean;
  /** Is given the heads that were left out for lack of space, if there are any. */
  readonly onDrop?: (heads: readonly string[]) => void;
}

/**
 * Rows as aligned columns without borders, sanitized, ending in a newline. On a terminal a row fits its width: the steps
 * of `narrowing` are taken, then the widest columns are cut, and a cut cell ends in `…`. Wide characters and emoji count
 * as the columns they take.
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

/** The same on stdout, as wide as that is, under a dim head. */
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
  const shown = truncate(text, width);
  const space = ' '.repeat(Math.max(0, width - textWidth(shown)));
  return isRight ? space + shown : shown + space;
}

interface Column {
  readonly head: string;
  readonly cells: readonly string[];
}

/** What a table does without on a narrow terminal: a whole column, or the long form of its cells. */
export type NarrowingStep = { readonly drop: string } | { readonly shorten: string };

export interface FitOptions {
  /** Heads of columns that stay whole as long as others can give way: ids, times. */
  readonly whole?: readonly string[];
  /** Heads of columns of numbers, which end at the same place. */
  readonly right?: readonly string[];
  /** Taken in this order, each only while the columns do not fit. */
  readonly narrowing?: readonly NarrowingStep[];
  /** The cells of one column in a shorter form, for `shorten`. */
  readonly short?: (cells: readonly string[]) => readonly string[];
}

interface FittedColumn extends Column {
  readonly width: number;
}

const gap = '  ';
const narrowest = 6;
const readable = 12;

interface Measured extends Column {
  readonly natural: number;
  readonly whole: boolean;
}

/** The columns that fit `width` side by side, each with the width that it gets. Without `width`, all as wide as they are. */
function fitColumns(
  all: readonly Column[],
  width: number | undefined,
  { whole = [], narrowing = [], short = (cells) => cells }: FitOptions,
): readonly FittedColumn[] {
  const measure = ({ head, cells }: Column): Measured => ({
    head,
    cells,
    natural: Math.max(textWidth(head), ...cells.map(textWidth)),
    whole: whole.includes(head),
  });
  let columns = all.map(measure);
  if (width === undefined) return columns.map((column) => ({ ...column, width: column.natural }));
  for (const step of narrowing) {
    if (sum(columns.map(leastWidth)) <= roomFor(columns, width)) break;
    columns =
      'drop' in step
        ? columns.filter(({ head }) => head !== step.drop)
        : columns.map((column) =>
            column.head === step.shorten ? measure({ ...column, cells: short(column.cells) }) : column,
          );
  }
  return narrowed(columns, roomFor(columns, width));
}

const leastWidth = ({ whole, natural }: Measured): number => (whole ? natural : Math.min(natural, readable));

const roomFor = (columns: readonly Measured[], width: number): number =>
  width - gap.length * (columns.length - 1);

/** Takes a column at a time away from the widest, of those that may give way first, until all fit. */
function narrowed(columns: readonly Measured[], room: number): FittedColumn[] {
  const widths = columns.map(({ natural }) => natural);
  let excess = sum(widths) - room;
  for (const sparing of [true, false]) {
    for (; excess > 0; excess -= 1) {
      const candidates = widths.map((own, i) => (sparing && columns[i]?.whole === true ? 0 : own));
      const widest = Math.max(...candidates);
      if (widest <= narrowest) break;
      widths[candidates.indexOf(widest)] = widest - 1;
    }
  }
  return columns.map((column, i) => ({ ...column, width: widths[i] ?? 0 }));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const isoTime = /^\d{4}-(\d\d-\d\d)T(\d\d:\d\d:\d\d)/;

/** ISO 8601 times of one column in fewer columns: `HH:MM:SS` where all are of one day, else with month and day before. */
export function shortTimes(cells: readonly string[]): string[] {
  const days = new Set(cells.filter((cell) => isoTime.test(cell)).map((cell) => cell.slice(0, 10)));
  return cells.map((cell) => {
    const [, day, time] = isoTime.exec(cell) ?? [];
    if (day === undefined || time === undefined) return cell;
    return days.size === 1 ? time : `${day} ${time}`;
  });
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** `3m ago`, `in 2h`, `now`: milliseconds since the epoch, in the largest unit that fits. */
export function relativeTime(time: number, now: number): string {
  const distance = Math.abs(now - time);
  for (const [name, ms] of units) {
    if (distance < ms) continue;
    const amount = `${Math.floor(distance / ms)}${name}`;
    return time > now ? `in ${amount}` : `${amount} ago`;
  }
  return 'now';
}

/**
 * Columns that text takes on a terminal: wide characters and emoji take two, combining marks none. A spacing combining
 * mark, as vowels of Devanagari are, takes one, as in xterm, tmux and VTE.
 */
export const textWidth = (text: string): number =>
  plain.test(text) ? text.length : measure(text).width + (text.match(spacingMark)?.length ?? 0);

/** Of the widest of some texts; 0 where there is none. */
export const widestOf = (texts: readonly string[]): number =>
  texts.reduce((widest, text) => Math.max(widest, textWidth(text)), 0);

/** Most text is plain: it needs no patterns for emoji, which take milliseconds to compile. */
const plain = /^[\x20-\x7e]*$/;
const spacingMark = /\p{Mc}/gu;

/** The longest beginning that takes at most `width` columns, cut between graphemes and ended with `…`. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  for (let limit = width; limit > 1; limit -= 1) {
    const { index } = measure(text, { limit, ellipsis: '…', ellipsisWidth: 1 });
    const shown = `${text.slice(0, index)}…`;
    // The library cuts a column too late after U+FFFD, which sanitizing inserts, and counts no spacing mark.
    if (textWidth(shown) <= width) return shown;
  }
  return '…';
}
