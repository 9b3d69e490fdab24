import { sanitize } from '../sanitize.ts';
import { textWidth, truncate } from '../terminal/text-width.ts';

export interface TableOptions {
  /** Columns of the terminal; undefined when piped: then nothing is cut. */
  readonly width: number | undefined;
  /** Heads of columns that stay whole as long as others can give way: ids, times. */
  readonly whole?: readonly string[];
  /** Heads of columns that are left out, in this order, before the others become too narrow to read. */
  readonly optional?: readonly string[];
  /** Draws a cell of the head; for colours. */
  readonly head?: (text: string) => string;
  /** Draws one cell that was already sanitized, cut and padded; for colours. */
  readonly cell?: (text: string, row: number, head: string) => string;
}

interface Column {
  readonly head: string;
  readonly cells: readonly string[];
  readonly natural: number;
  readonly whole: boolean;
}

const gap = '  ';
const narrowest = 6;
const readable = 12;

/**
 * Rows as aligned columns without borders, sanitized, ending in a newline. On a terminal a row fits its width: optional
 * columns are left out, the widest of the others are cut, and a cut cell ends in `…`. Wide characters and emoji count
 * as the columns they take.
 */
export function renderTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string {
  const texts = heads.map((_, i) => rows.map((row) => sanitize(row[i] ?? '')));
  const all = heads.map((head, i): Column => {
    const cells = texts[i] ?? [];
    const natural = Math.max(textWidth(head), ...cells.map(textWidth));
    return { head, cells, natural, whole: options.whole?.includes(head) === true };
  });
  const { width, optional = [] } = options;
  const columns = width === undefined ? all : leaveOut(all, optional, width);
  const widths = width === undefined ? all.map(({ natural }) => natural) : fit(columns, width);
  const { head: paintHead = same, cell: paint = same } = options;
  const line = (cellOf: (column: Column, width: number) => string): string =>
    `${columns
      .map((column, i) => cellOf(column, widths[i] ?? 0))
      .join(gap)
      .trimEnd()}\n`;
  const drawn = rows.map((_, r) =>
    line(({ cells, head }, room) => paint(pad(cells[r] ?? '', room), r, head)),
  );
  return [line(({ head }, room) => paintHead(pad(head, room))), ...drawn].join('');
}

const same = (text: string): string => text;

const roomFor = (columns: readonly Column[], width: number): number =>
  width - gap.length * (columns.length - 1);

function leaveOut(all: readonly Column[], optional: readonly string[], width: number): readonly Column[] {
  const need = ({ whole, natural }: Column): number => (whole ? natural : Math.min(natural, readable));
  let columns = all;
  for (const head of optional) {
    if (sum(columns.map(need)) <= roomFor(columns, width)) break;
    columns = columns.filter((column) => column.head !== head);
  }
  return columns;
}

/** Takes a column at a time away from the widest, of those that may give way first, until all fit. */
function fit(columns: readonly Column[], width: number): number[] {
  const widths = columns.map(({ natural }) => natural);
  let excess = sum(widths) - roomFor(columns, width);
  for (const sparing of [true, false]) {
    for (; excess > 0; excess -= 1) {
      const candidates = widths.map((room, i) => (sparing && columns[i]?.whole === true ? 0 : room));
      const room = Math.max(...candidates);
      if (room <= narrowest) break;
      widths[candidates.indexOf(room)] = room - 1;
    }
  }
  return widths;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function pad(text: string, width: number): string {
  const shown = truncate(text, width);
  return shown + ' '.repeat(Math.max(0, width - textWidth(shown)));
}
