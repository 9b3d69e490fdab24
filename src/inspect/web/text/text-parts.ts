/**
 * Characters that show nothing, or change the order of the text around them: controls, bidi controls, invisible characters, halves
 * of a surrogate pair. Not tab and line feed, and not the joiners that emoji and some scripts need.
 */
const hidden =
  /(?![\t\n\u200c\u200d]|\r\n)(?:\u034f|[\p{Cc}\p{Cs}\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}])/gu;

export interface TextPart {
  readonly text: string;
  /** `text` names a character that would not be seen. */
  readonly isHidden: boolean;
}

/** The parts of a text, with the names of its hidden characters, such as `U+202E`, in their place. */
export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(hidden)) {
    if (index > from) parts.push({ text: text.slice(from, index), isHidden: false });
    parts.push({ text: codePointName(character), isHidden: true });
    from = index + character.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), isHidden: false });
  return parts;
}

/** The same as one text, for one that is too long to be drawn in parts. */
export function withNamedCharacters(text: string): string {
  return text.replace(hidden, (character) => `⟨${codePointName(character)}⟩`);
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

export interface JsonToken {
  readonly kind: 'name' | 'string' | 'number' | 'word' | 'other';
  readonly text: string;
}

/** A string may be cut off: it ends with the line. Else each quote in it would be tried as the start of one. */
const token = /("(?:[^"\\]|\\.)*(?:"|\\?$))(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b/g;

/** The tokens that colour a line of formatted JSON; together they are the line, whatever it is. */
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
