import { bar } from '../../output/chart.ts';
import { sanitize } from '../../output/sanitize.ts';
import type { Palette } from '../../output/terminal/colour.ts';
import { grouped } from '../../output/terminal/progress.ts';
import { textWidth, truncate, widestOf } from '../../output/terminal/text-width.ts';
import { changeText, shareText } from './figure-text.ts';

/** How the table is drawn. */
export interface ChartStyle {
  /** Columns to fit into. */
  readonly width: number;
  /** In a pipe nothing is cut. */
  readonly cutsLabels: boolean;
  readonly ascii: boolean;
  readonly colours: Palette;
}

export interface BarRow {
  readonly label: string;
  readonly count: number;
  /** In the window before. */
  readonly before?: number | undefined;
  /** All other values together: a bar as long as theirs would leave none for the others. */
  readonly isRest?: boolean;
}

interface NumberColumn {
  readonly head: string;
  readonly cells: readonly string[];
}

const gap = '  ';
const leastLabel = 8;
const leastBar = 4;
/** Longer bars are no easier to compare. */
const mostBar = 50;

/** Rows with a label, a count, its share of `total`, the change where there is one, and a bar; under a head. */
export function barSection(
  title: string,
  unit: string,
  rows: readonly BarRow[],
  total: number,
  style: ChartStyle,
): string[] {
  const { width, ascii, colours } = style;
  const columns = fittingColumns(numberColumns(unit, rows, total), width);
  const widths = columns.map(widthOf);
  const numbersWidth = widths.reduce((sum, own) => sum + gap.length + own, 0);
  const labels = rows.map(({ label }) => sanitize(label));
  const natural = widestOf([sanitize(title), ...labels]);
  const roomForLabel = Math.max(
    leastLabel,
    Math.min(width - numbersWidth, Math.max(Math.floor(width / 2.5), 12)),
  );
  const labelWidth = style.cutsLabels ? Math.min(natural, roomForLabel) : natural;
  const roomForBar = Math.min(
    mostBar,
    width - Math.min(labelWidth, roomForLabel) - numbersWidth - gap.length,
  );
  const most = rows.reduce(
    (largest, { count, isRest }) => (isRest === true ? largest : Math.max(largest, count)),
    0,
  );
  const numbersOf = (cellOf: (column: NumberColumn) => string): string =>
    columns.map((column, i) => gap + cellOf(column).padStart(widths[i] ?? 0)).join('');
  const head = padded(sanitize(title), labelWidth, ascii) + numbersOf((column) => column.head);
  return [
    colours.dim(head),
    ...rows.map(({ count, isRest }, r) => {
      const drawn = isRest === true || roomForBar < leastBar ? '' : bar(count, most, roomForBar, ascii);
      const text = padded(labels[r] ?? '', labelWidth, ascii) + numbersOf(({ cells }) => cells[r] ?? '');
      return drawn === '' ? text : text + gap + colours.cyan(drawn);
    }),
  ];
}

function numberColumns(unit: string, rows: readonly BarRow[], total: number): NumberColumn[] {
  const columns = [
    { head: unit, cells: rows.map(({ count }) => grouped(count)) },
    { head: 'SHARE', cells: rows.map(({ count }) => shareText(count, total)) },
  ];
  if (rows.every(({ before }) => before === undefined)) return columns;
  return [
    ...columns,
    { head: 'BEFORE', cells: rows.map(({ before = 0 }) => grouped(before)) },
    { head: 'CHANGE', cells: rows.map(({ before = 0, count }) => changeText(before, count)) },
  ];
}

const widthOf = ({ head, cells }: NumberColumn): number => widestOf([head, ...cells]);

/** What a narrow terminal does without, so that labels can be read: first the share, then what was before. */
function fittingColumns(columns: readonly NumberColumn[], width: number): readonly NumberColumn[] {
  let shown = columns;
  for (const head of ['SHARE', 'BEFORE']) {
    const taken = shown.reduce((sum, column) => sum + gap.length + widthOf(column), 0);
    if (width - taken >= 2 * leastLabel) break;
    shown = shown.filter((column) => column.head !== head);
  }
  return shown;
}

/** Cut and filled up to a width; where only ASCII is wanted, `~` stands for what was cut. */
export function padded(text: string, width: number, ascii: boolean): string {
  const cut = truncate(text, width);
  const shown = ascii && cut !== text ? cut.replace(/…$/, '~') : cut;
  return shown + ' '.repeat(Math.max(0, width - textWidth(shown)));
}
