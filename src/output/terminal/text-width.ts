import measure from 'fast-string-truncated-width';

/**
 * Columns that text takes on a terminal: wide characters and emoji take two, combining marks none. A spacing combining
 * mark, as vowels of Devanagari are, takes one, as in xterm, tmux and VTE.
 */
export const textWidth = (text: string): number =>
  plain.test(text) ? text.length : measure(text).width + (text.match(spacingMark)?.length ?? 0);

/** Of the widest of some texts; 0 where there is none. */
export const widestOf = (texts: readonly string[]): number =>
  texts.reduce((widest, text) => Math.max(widest, textWidth(text)), 0);

/** Most text is plain: it needs no patterns for emoji, which take milliseconds to compile. */
const plain = /^[\x20-\x7e]*$/;
const spacingMark = /\p{Mc}/gu;

/** The longest beginning that takes at most `width` columns, cut between graphemes and ended with `…`. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  for (let limit = width; limit > 1; limit -= 1) {
    const { index } = measure(text, { limit, ellipsis: '…', ellipsisWidth: 1 });
    const shown = `${text.slice(0, index)}…`;
    // The library cuts a column too late after U+FFFD, which sanitizing inserts, and counts no spacing mark.
    if (textWidth(shown) <= width) return shown;
  }
  return '…';
}
