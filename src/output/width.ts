/** Columns that text takes on a terminal. */
export type Measure = (text: string) => number;

/** Latin, Greek, Cyrillic, Hebrew and Arabic letters without combining marks: one column each. */
const narrow =
  '\\u0020-\\u007e\\u00a0-\\u00ac\\u00ae-\\u02ff\\u0370-\\u0482\\u048a-\\u052f\\u05d0-\\u05ea\\u0620-\\u064a\\u2013-\\u2026\\u20ac\\ufffd';
/** Kana, Han and Hangul: two columns each. */
const wide = '\\u3041-\\u3096\\u309b-\\u30ff\\u4e00-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff60';
const simple = new RegExp(`^[${narrow}${wide}]*$`);
const wideOnes = new RegExp(`[${wide}]`, 'g');

const simpleWidth: Measure = (text) => text.length + (text.match(wideOnes)?.length ?? 0);

/**
 * Measures the texts of one table. Only emoji, combining marks and the like need string-width, whose tables take
 * longer to load than everything else in a short run together.
 */
export async function measureFor(texts: readonly string[]): Promise<Measure> {
  if (texts.every((text) => simple.test(text))) return simpleWidth;
  return (await import('string-width')).default;
}

/** The longest beginning that takes at most `width` columns, cut between graphemes and ended with `…`. */
export function truncate(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const segment of simple.test(text) ? text : graphemes(text)) {
    const columns = measure(segment);
    if (used + columns > width - 1) break;
    kept += segment;
    used += columns;
  }
  return `${kept}…`;
}

function graphemes(text: string): string[] {
  return Array.from(
    new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text),
    (part) => part.segment,
  );
}
