const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * A bar of at most `width` columns for `value` of `most`, to an eighth of a column, or to a column in plain ASCII. What is
 * more than zero is always seen.
 */
export function bar(value: number, most: number, width: number, ascii: boolean): string {
  if (value <= 0 || most <= 0 || width < 1) return '';
  const steps = Math.max(1, Math.round((Math.min(value, most) / most) * width * (ascii ? 1 : 8)));
  if (ascii) return '#'.repeat(steps);
  return '█'.repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? '');
}
