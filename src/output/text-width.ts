import measure from 'fast-string-truncated-width';

/**
 * Returns the columns that a text takes on a terminal: wide characters and emoji take two, combining marks
 * zero. A spacing combining mark, such as a vowel of Devanagari, takes one, as in xterm, tmux and VTE.
 */
export const textWidth = (text: string): number =>
  plain.test(text) ? text.length : measure(text).width + (text.match(spacingMark)?.length ?? 0);

export const widestOf = (texts: readonly string[]): number =>
  texts.reduce((widest, text) => Math.max(widest, textWidth(text)), 0);

/** Most text is plain and needs no patterns for emoji, which take milliseconds to compile. */
const plain = /^[\x20-\x7e]*$/;
const spacingMark = /\p{Mc}/gu;

/** Cuts a text to `width` columns, between graphemes and with `…` at the end. */
export const truncate = (text: string, width: number): string =>
  textWidth(text) <= width ? text : `${text.slice(0, fittingLength(text, width - 1))}…`;

function fittingLength(text: string, width: number): number {
  for (let limit = width; limit > 0; limit -= 1) {
    const { index } = measure(text, { limit, ellipsis: '' });
    // The library cuts a column too late after U+FFFD, which sanitizing inserts, and counts no spacing mark.
    if (textWidth(text.slice(0, index)) <= width) return index;
  }
  return 0;
}
