const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * Draws `value` of `maximum` as a bar of at most `width` columns, to an eighth of a column, or to a column in
 * plain ASCII. Every value above zero is visible.
 */
export function bar(value: number, maximum: number, width: number, ascii: boolean): string {
  if (value <= 0 || maximum <= 0 || width < 1) return '';
  const steps = Math.max(1, Math.round((Math.min(value, maximum) / maximum) * width * (ascii ? 1 : 8)));
  if (ascii) return '#'.repeat(steps);
  return '█'.repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? '');
}

const drawn = '▂▃▄▅▆▇█';
const plain = '.:-=+*#';

/**
 * Draws a character for each value, or for several adjacent ones where there are more than `width`. The first
 * level means zero, the last one the largest value.
 */
export function sparkline(values: readonly number[], width: number, ascii: boolean): string {
  const sums = merged(values, Math.max(1, width));
  const maximum = sums.reduce((a, b) => Math.max(a, b), 0);
  const [zero, levels] = ascii ? ['_', plain] : ['▁', drawn];
  return sums
    .map((sum) => (sum <= 0 ? zero : (levels[Math.ceil((sum / maximum) * levels.length) - 1] ?? zero)))
    .join('');
}

function merged(values: readonly number[], width: number): readonly number[] {
  const together = Math.ceil(values.length / width);
  if (together <= 1) return values;
  return Array.from({ length: Math.ceil(values.length / together) }, (_, i) =>
    values.slice(i * together, (i + 1) * together).reduce((sum, value) => sum + value, 0),
  );
}
