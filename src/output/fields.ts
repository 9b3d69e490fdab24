import { sanitize } from './terminal/terminal.ts';
import { textWidth, widestOf, wrapColumns } from './table.ts';

const gap = '  ';

export interface FieldsOptions {
  /** The columns of the terminal, to which values are wrapped; undefined when piped: one line a field. */
  readonly width: number | undefined;
  readonly name?: (text: string) => string;
}

/** Narrower than this, a column of values is hard to read beside the names. */
const readable = 20;

/**
 * Draws a record, a field a line and sanitized, ending in a newline: names on the left and values on the right, or under
 * their names on a terminal that is too narrow for both.
 */
export function renderFields(
  fields: readonly (readonly [name: string, value: string])[],
  { width, name: paint = (text) => text }: FieldsOptions,
): string {
  const names = fields.map(([name]) => sanitize(name));
  const nameWidth = widestOf(names);
  const room = width === undefined ? Number.POSITIVE_INFINITY : width - nameWidth - gap.length;
  const isStacked = width !== undefined && room < readable;
  const valueWidth = isStacked ? Math.max(2, width - gap.length) : room;
  const lines = fields.flatMap(([, value], i) => {
    const name = names[i] ?? '';
    const wrapped = wrapColumns(sanitize(value), valueWidth);
    if (isStacked) return [paint(name), ...wrapped.map((line) => gap + line)];
    const [first = '', ...further] = wrapped;
    const padding = ' '.repeat(nameWidth - textWidth(name)) + gap;
    const indent = ' '.repeat(nameWidth) + gap;
    return [`${paint(name)}${padding}${first}`, ...further.map((line) => indent + line)];
  });
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
