export interface JsonToken {
  readonly kind: 'name' | 'string' | 'number' | 'word' | 'other';
  readonly text: string;
}

/** A string may be cut off: it ends with the line. Else each quote in it would be tried as the start of one. */
const token = /("(?:[^"\\]|\\.)*(?:"|\\?$))(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b/g;

/** What colours one line of formatted JSON; together they are the line, whatever it is. */
export function jsonTokens(line: string): JsonToken[] {
  const tokens: JsonToken[] = [];
  let from = 0;
  const add = (kind: JsonToken['kind'], text: string): void => {
    if (text !== '') tokens.push({ kind, text });
  };
  for (const match of line.matchAll(token)) {
    const [all, string, colon, number] = match;
    add('other', line.slice(from, match.index));
    if (string !== undefined) {
      add(colon === undefined ? 'string' : 'name', string);
      add('other', colon ?? '');
    } else add(number === undefined ? 'word' : 'number', all);
    from = match.index + all.length;
  }
  add('other', line.slice(from));
  return tokens;
}
