import { scrub } from './scrub.ts';
import { type Measure, measureFor, truncate } from './width.ts';

export interface TableOptions {
  /** Columns of the terminal; undefined when piped: then nothing is cut. */
  readonly width: number | undefined;
  /** Draws the header line's cells; for colours. */
  readonly head?: (text: string) => string;
  /** Draws one cell that was already scrubbed, cut and padded; for colours. */
  readonly cell?: (text: string, row: number, column: number) => string;
}

const gap = '  ';
const narrowest = 6;

/**
 * Rows as aligned columns without borders, scrubbed, ending in a newline. On a terminal the widest columns give way
 * until a row fits, and a cut cell ends in `…`. Wide characters and emoji count as the columns they take.
 */
export async function renderTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): Promise<string> {
  const cells = rows.map((row) => columns.map((_, i) => scrub(row[i] ?? '')));
  const measure = await measureFor([columns, ...cells].flat());
  const natural = columns.map((name, i) =>
    cells.reduce((widest, row) => Math.max(widest, measure(row[i] ?? '')), measure(name)),
  );
  const room = options.width === undefined ? undefined : options.width - gap.length * (columns.length - 1);
  const widths = room === undefined ? natural : fit(natural, room);
  const line = (texts: readonly string[], paint: (text: string, column: number) => string): string =>
    texts.map((text, i) => paint(pad(text, widths[i] ?? 0, measure), i)).join(gap);
  const { head = (text: string) => text, cell = (text: string) => text } = options;
  return [line(columns, head), ...cells.map((row, r) => line(row, (text, c) => cell(text, r, c)))]
    .map((text) => `${text.trimEnd()}\n`)
    .join('');
}

/** Takes a column at a time away from the widest until all fit; none falls below what can still be read. */
function fit(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  for (; excess > 0; excess -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= narrowest) break;
    widths[widest] = width - 1;
  }
  return widths;
}

function pad(text: string, width: number, measure: Measure): string {
  const shown = truncate(text, width, measure);
  return shown + ' '.repeat(Math.max(0, width - measure(shown)));
}
