/**
 * What shows nothing, or changes the order of what stands around it: controls, bidi controls, invisible characters, halves
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
