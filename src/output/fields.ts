import { sanitize } from './terminal/terminal.ts';
import { cutToWidth, textWidth, widestOf } from './text-width.ts';

const gap = '  ';
/** Narrower than this, a column of values is hard to read beside the names. */
const readable = 20;

export interface FieldsOptions {
  /** The columns of the terminal, to which values are cut; undefined when piped: one line a field. */
  readonly width: number | undefined;
  /** Colours a name. */
  readonly name?: (text: string) => string;
}

/**
 * Draws a record, a field a line and sanitized, ending in a newline: names on the left and values on the right, or under
 * their names on a terminal that is too narrow for both.
 */
export function renderFields(
  fields: readonly (readonly [name: string, value: string])[],
  { width = Infinity, name: paint = (text) => text }: FieldsOptions,
): string {
  const sanitized = fields.map(([name, value]) => [sanitize(name), sanitize(value)] as const);
  const nameWidth = widestOf(sanitized.map(([name]) => name));
  const isNarrow = width - nameWidth - gap.length < readable;
  const indent = isNarrow ? gap : ' '.repeat(nameWidth) + gap;
  const lines = sanitized.flatMap(([name, value]) => {
    const pieces = cutToWidth(value, Math.max(1, width - indent.length));
    if (isNarrow) return [paint(name), ...pieces.map((piece) => indent + piece)];
    const [first = '', ...further] = pieces;
    const space = first === '' ? '' : ' '.repeat(nameWidth - textWidth(name)) + gap;
    return [paint(name) + space + first, ...further.map((piece) => indent + piece)];
  });
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}
