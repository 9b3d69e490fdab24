/**
 * Matches characters that show nothing or change the order of the text around them: controls, bidi controls,
 * invisible characters, halves of a surrogate pair. It excludes tab, line feed, and the joiners that emoji and
 * some scripts need.
 */
const hidden =
  /(?![\t\n\u200c\u200d]|\r\n)(?:\u034f|[\p{Cc}\p{Cs}\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}])/gu;

export interface TextPart {
  readonly text: string;
  readonly isHidden: boolean;
}

/** Hidden characters are named, such as `U+202E`. */
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

export function withNamedCharacters(text: string): string {
  return text.replace(hidden, (character) => `⟨${codePointName(character)}⟩`);
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** In characters and lines. A million elements would stop the page, and hostile bodies are made for that. */
const shownLength = 60_000;
const mostLines = 2_000;

export function firstLines(text: string) {
  const lines = text.slice(0, shownLength).split('\n');
  return { lines: lines.slice(0, mostLines), isCut: text.length > shownLength || lines.length > mostLines };
}

export interface JsonToken {
  readonly kind: 'name' | 'string' | 'number' | 'word' | 'other';
  readonly text: string;
}

/** A string with the colon of a name, a number, or a word. A string without an end goes to the end of the line. */
const token = /("(?:[^"\\]|\\.)*(?:"|\\?$))(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b/g;

export function jsonTokens(line: string): JsonToken[] {
  const tokens: JsonToken[] = [];
  let from = 0;
  const add = (kind: JsonToken['kind'], text: string): void => {
    if (text !== '') tokens.push({ kind, text });
  };
  for (const match of line.matchAll(token)) {
    const [whole, string, colon, number] = match;
    add('other', line.slice(from, match.index));
    if (string !== undefined) {
      add(colon === undefined ? 'string' : 'name', string);
      add('other', colon ?? '');
    } else add(number === undefined ? 'word' : 'number', whole);
    from = match.index + whole.length;
  }
  add('other', line.slice(from));
  return tokens;
}
