import Table from 'cli-table3';
import { sanitize } from '../sanitize.ts';

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
  middle: '  ',
};

export interface FieldsOptions {
  /** Columns of the terminal: longer values are wrapped to it. Undefined when piped: one line a field. */
  readonly width: number | undefined;
  readonly name?: (text: string) => string;
}

/** One record, a field a line, sanitized: names on the left, values on the right. Ends in a newline. */
export function renderFields(
  fields: readonly (readonly [name: string, value: string])[],
  options: FieldsOptions,
): string {
  const { width, name: paint = (text: string) => text } = options;
  const names = fields.map(([name]) => sanitize(name));
  const left = Math.max(0, ...names.map((name) => name.length));
  const right = width === undefined ? undefined : Math.max(20, width - left - 2);
  const table = new Table({
    chars: none,
    // Colours come from the caller: cli-table3 would also draw them into a pipe.
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    ...(right !== undefined && { colWidths: [left, right], wordWrap: true, wrapOnWordBoundary: false }),
  });
  table.push(...fields.map(([, value], i) => [names[i] ?? '', sanitize(value)]));
  // Painted afterwards: cli-table3 may cut a name in the middle of a colour's code.
  const drawn = table.toString().replace(/ +$/gm, '').split('\n');
  const waiting = names.filter((name) => name !== '');
  const lines = drawn.map((line) => {
    const [name] = waiting;
    if (name === undefined || !line.startsWith(name)) return line;
    waiting.shift();
    return paint(name) + line.slice(name.length);
  });
  return `${lines.join('\n')}\n`;
}
