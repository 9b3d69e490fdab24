/** Of bytes: `812 B`, `1.4 kB`, `1.0 MB`. */
export function shownSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const [value, unit] = bytes < 1_000_000 ? [bytes / 1_000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${value < 100 ? value.toFixed(1) : Math.round(value).toString()} ${unit}`;
}

const grouped = new Intl.NumberFormat('en');

/** `1,234,567` */
export const shownCount = (count: number): string => grouped.format(count);

export const plural = (count: number, word: string, words = `${word}s`): string =>
  `${shownCount(count)} ${count === 1 ? word : words}`;
