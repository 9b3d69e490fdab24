import Table from 'cli-table3';
import { sanitize } from './terminal/terminal.ts';
import { textWidth } from './table.ts';

const middle = '  ';
const none = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle,
};

export interface FieldsOptions {
  /** Columns of the terminal: longer values are wrapped to it. Undefined when piped: one line a field. */
  readonly width: number | undefined;
  readonly name?: (text: string) => string;
}

/** Narrower than this, a column of values is hard to read beside the names. */
const readable = 20;

/**
 * One record, a field a line, sanitized: names on the left, values on the right, or under their names on a terminal that
 * is too narrow for both. Ends in a newline.
 */
export function renderFields(
  fields: readonly (readonly [name: string, value: string])[],
  options: FieldsOptions,
): string {
  const { width, name: paint = (text: string) => text } = options;
  const names = fields.map(([name]) => sanitize(name));
  const values = fields.map(([, value]) => sanitize(value));
  const left = Math.max(0, ...names.map(textWidth));
  if (width !== undefined && width - left - middle.length < readable) {
    return stacked(names, values, width, paint);
  }
  const lines = draw(
    values.map((value, i) => [names[i] ?? '', value]),
    width === undefined ? undefined : [left, width - left - middle.length],
  );
  // Painted afterwards: cli-table3 may cut a name in the middle of a colour's code.
  const waiting = names.filter((name) => name !== '');
  const painted = lines.map((line) => {
    const [name] = waiting;
    if (name === undefined || !line.startsWith(name)) return line;
    waiting.shift();
    return paint(name) + line.slice(name.length);
  });
  return `${painted.join('\n')}\n`;
}

function stacked(
  names: readonly string[],
  values: readonly string[],
  width: number,
  paint: (text: string) => string,
): string {
  const lines = values.flatMap((value, i) => {
    const drawn = value === '' ? [] : draw([[value]], [Math.max(1, width - middle.length)]);
    return [paint(names[i] ?? ''), ...drawn.map((line) => middle + line)];
  });
  return `${lines.join('\n')}\n`;
}

/** Lines without trailing spaces; with `colWidths`, cells are wrapped to them. */
function draw(rows: readonly string[][], colWidths: number[] | undefined): string[] {
  const table = new Table({
    chars: none,
    // Colours come from the caller: cli-table3 would also draw them into a pipe.
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    ...(colWidths !== undefined && { colWidths, wordWrap: true, wrapOnWordBoundary: false }),
  });
  table.push(...rows);
  return table.toString().replace(/ +$/gm, '').split('\n');
}
