import measure from 'fast-string-truncated-width';

/** Columns that text takes on a terminal: wide characters and emoji take two, combining marks none. */
export const textWidth = (text: string): number => measure(text).width;

/** The longest beginning that takes at most `width` columns, cut between graphemes and ended with `…`. */
export function truncate(text: string, width: number): string {
  const found = measure(text, { limit: width, ellipsis: '…', ellipsisWidth: 1 });
  return found.truncated ? `${text.slice(0, found.index)}${found.ellipsed ? '…' : ''}` : text;
}
