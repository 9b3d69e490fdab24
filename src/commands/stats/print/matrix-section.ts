import { sanitize } from '../../../output/sanitize.ts';
import { grouped } from '../../../output/terminal/progress.ts';
import { textWidth, widestOf } from '../../../output/terminal/text-width.ts';
import type { CountedWindow } from '../counted-windows.ts';
import { rankedMatrix, type RankedMatrix } from '../ranked-matrix.ts';
import { type ChartStyle, padded } from './bar-section.ts';

const gap = '  ';
const widestHead = 14;

/** Leads by two fields, with as many columns as fit; the rest is `(other)`. */
export function matrixSection(window: CountedWindow, top: number, style: ChartStyle): string[] {
  // A column takes four columns of the terminal at least.
  for (let columns = style.cutsLabels ? Math.min(top, Math.ceil(style.width / 4)) : top; ; columns -= 1) {
    const matrix = rankedMatrix(window, top, columns);
    if (matrix === undefined || matrix.rows.length === 0) return [];
    columns = Math.min(columns, matrix.columns.length);
    const lines = drawn(matrix, style);
    const widest = widestOf(lines);
    if (columns <= 1 || !style.cutsLabels || widest <= style.width) {
      return [style.colours.dim(lines[0] ?? ''), ...lines.slice(1)];
    }
  }
}

function drawn({ rowKey, columnKey, rows, columns, cells }: RankedMatrix, style: ChartStyle): string[] {
  const { ascii, cutsLabels, width } = style;
  const title = sanitize(`${rowKey} by ${columnKey}`);
  const labels = rows.map((row) => sanitize(row === '' ? '""' : row));
  const natural = widestOf([title, ...labels]);
  const labelWidth = cutsLabels ? Math.min(natural, Math.max(12, Math.floor(width / 3))) : natural;
  const texts = cells.map((row) => row.map(grouped));
  const widths = columns.map((column, c) => {
    const head = textWidth(sanitize(column));
    const cell = widestOf(texts.map((row) => row[c] ?? ''));
    return Math.max(cutsLabels ? Math.min(head, widestHead) : head, cell);
  });
  const heads = columns.map((column, c) => {
    const own = widths[c] ?? 0;
    const cut = padded(sanitize(column), own, ascii).trimEnd();
    return gap + ' '.repeat(Math.max(0, own - textWidth(cut))) + cut;
  });
  return [
    padded(title, labelWidth, ascii) + heads.join(''),
    ...labels.map(
      (label, r) =>
        padded(label, labelWidth, ascii) +
        columns.map((_, c) => gap + (texts[r]?.[c] ?? '').padStart(widths[c] ?? 0)).join(''),
    ),
  ];
}
