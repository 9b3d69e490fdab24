import { sanitize } from '../sanitize.ts';
import { textWidth, truncate } from '../terminal/text-width.ts';
import { fitColumns, type FitOptions, gap } from './fit-columns.ts';

export interface TableOptions extends FitOptions {
  /** Columns of the terminal; undefined when piped: then nothing is cut. */
  readonly width: number | undefined;
  /** Draws a cell of the head; for colours. */
  readonly head?: (text: string) => string;
  /** Draws one cell that was already sanitized, cut and padded; for colours. */
  readonly cell?: (text: string, row: number, head: string) => string;
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
  const all = heads.map((head, i) => ({ head, cells: rows.map((row) => sanitize(row[i] ?? '')) }));
  const columns = fitColumns(all, options.width, options);
  const dropped = heads.filter((head) => columns.every((column) => column.head !== head));
  if (dropped.length > 0) options.onDrop?.(dropped);
  const { head: paintHead = same, cell: paint = same } = options;
  const line = (cells: readonly string[]): string => `${cells.join(gap).trimEnd()}\n`;
  return [
    line(columns.map(({ head, width }) => paintHead(pad(head, width)))),
    ...rows.map((_, r) =>
      line(columns.map(({ head, cells, width }) => paint(pad(cells[r] ?? '', width), r, head))),
    ),
  ].join('');
}

const same = (text: string): string => text;

function pad(text: string, width: number): string {
  const shown = truncate(text, width);
  return shown + ' '.repeat(Math.max(0, width - textWidth(shown)));
}
