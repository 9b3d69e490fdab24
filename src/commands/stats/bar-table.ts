import { renderTable } from '../../output/table.ts';
import { grouped } from '../../output/terminal/progress.ts';
import { type Palette, sanitize } from '../../output/terminal/terminal.ts';
import { widestOf } from '../../output/text-width.ts';
import { otherValues } from '../../stats/lead-counts.ts';

/** `width` is that of the terminal, undefined in a pipe, where nothing is cut; `columns` is for bars and sentences in both. */
export interface ChartStyle {
  readonly width: number | undefined;
  readonly columns: number;
  readonly ascii: boolean;
  readonly colours: Palette;
}

const shortestLabel = 12;
const shortestBar = 4;
const longestBar = 50;
const spacesBetweenColumns = 3 * 2;

/**
 * A table of counts, each with its share of `total` and a bar; an empty text where there are no rows. A label is cut at two
 * fifths of the columns, and bars get what the other columns leave, or are left out where they could compare nothing.
 */
export function barTable(
  [title, unit]: readonly [title: string, unit: string],
  rows: readonly (readonly [label: string, count: number])[],
  total: number,
  { width, columns, ascii, colours }: ChartStyle,
): string {
  if (rows.length === 0) return '';
  const counts = rows.map(([, count]) => grouped(count));
  const shares = rows.map(([, count]) => shareText(count, total));
  const labels = rows.map(([label]) => (label === '' ? '""' : label));
  const longestLabel = Math.max(shortestLabel, Math.floor(columns / 2.5));
  const labelWidth = Math.min(widestOf([title, ...labels.map(sanitize)]), longestLabel);
  const numbersWidth = widestOf([unit, ...counts]) + widestOf(['SHARE', ...shares]);
  const barWidth = Math.min(longestBar, columns - labelWidth - numbersWidth - spacesBetweenColumns);
  // A bar for all other values together would leave no room for the rest.
  const compared = rows.map(([label, count]) => (label === otherValues ? 0 : count));
  const largest = compared.reduce((a, b) => Math.max(a, b), 0);
  const bars = compared.map((count) => (barWidth < shortestBar ? '' : bar(count, largest, barWidth, ascii)));
  const text = renderTable(
    [title, unit, 'SHARE', ''],
    labels.map((label, i) => [label, counts[i] ?? '', shares[i] ?? '', bars[i] ?? '']),
    {
      width,
      cutLast: [unit, 'SHARE', ''],
      rightAligned: [unit, 'SHARE'],
      narrowing: [{ drop: 'SHARE' }],
      head: colours.dim,
      cell: (cell, _, head) => (head === '' ? colours.cyan(cell) : cell),
    },
  );
  return ascii ? text.replaceAll('…', '~') : text;
}

/** In whole percent, where a part is never shown as nothing, nor as all. */
function shareText(count: number, total: number): string {
  if (total <= 0) return '';
  const percent = Math.round((count / total) * 100);
  if (percent === 0 && count > 0) return '<1%';
  return percent === 100 && count < total ? '>99%' : `${percent}%`;
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * Draws `value` of `maximum` as a bar of at most `width` columns, to an eighth of a column, or to a column in
 * plain ASCII. Every value above zero is visible.
 */
export function bar(value: number, maximum: number, width: number, ascii: boolean): string {
  if (value <= 0 || maximum <= 0 || width < 1) return '';
  const stepsPerColumn = ascii ? 1 : 8;
  const share = Math.min(value, maximum) / maximum;
  const steps = Math.max(1, Math.round(share * width * stepsPerColumn));
  if (ascii) return '#'.repeat(steps);
  return '█'.repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? '');
}
