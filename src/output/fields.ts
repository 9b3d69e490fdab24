import Table from 'cli-table3';
import { sanitize } from './terminal/terminal.ts';
import { widestOf } from './text-width.ts';

const gap = '  ';
const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  right: '',
  middle: gap,
};

export interface FieldsOptions {
  /** The columns of the terminal, to which values are wrapped; undefined when piped: one line a field. */
  readonly width: number | undefined;
  readonly paintName?: (name: string) => string;
}

const leastValueWidth = 20;

/**
 * Draws a record, a field a line and sanitized, ending in a newline: names on the left and values on the right.
 */
export function renderFields(
  fields: readonly (readonly [name: string, value: string])[],
  options: FieldsOptions,
): string {
  const { width, paintName = (name: string) => name } = options;
  const names = fields.map(([name]) => sanitize(name));
  const values = fields.map(([, value]) => sanitize(value));
  const nameWidth = widestOf(names);
  const lines = drawLines(
    values.map((value, i) => [names[i] ?? '', value]),
    width === undefined ? undefined : [nameWidth, Math.max(leastValueWidth, width - nameWidth - gap.length)],
  );
  // Names are painted afterwards, because cli-table3 may cut one in the middle of a colour's code.
  const unpainted = names.filter((name) => name !== '');
  const painted = lines.map((line) => {
    const [name] = unpainted;
    if (name === undefined || !line.startsWith(name)) return line;
    unpainted.shift();
    return paintName(name) + line.slice(name.length);
  });
  return `${painted.join('\n')}\n`;
}

function drawLines(rows: readonly string[][], colWidths: number[] | undefined): string[] {
  const table = new Table({
    chars: noBorders,
    // Colours come from the caller: cli-table3 would also draw them into a pipe.
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    ...(colWidths !== undefined && { colWidths, wordWrap: true, wrapOnWordBoundary: false }),
  });
  table.push(...rows);
  return table.toString().replace(/ +$/gm, '').split('\n');
}
