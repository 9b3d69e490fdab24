import { textWidth } from '../terminal/text-width.ts';

export interface Column {
  readonly head: string;
  readonly cells: readonly string[];
}

/** What a table does without on a narrow terminal: a whole column, or the long form of its cells. */
export type NarrowingStep = { readonly drop: string } | { readonly shorten: string };

export interface FitOptions {
  /** Heads of columns that stay whole as long as others can give way: ids, times. */
  readonly whole?: readonly string[];
  /** Taken in this order, each only while the columns do not fit. */
  readonly narrowing?: readonly NarrowingStep[];
  /** The cells of one column in a shorter form, for `shorten`. */
  readonly short?: (cells: readonly string[]) => readonly string[];
}

interface FittedColumn extends Column {
  readonly width: number;
}

export const gap = '  ';
const narrowest = 6;
const readable = 12;

interface Measured extends Column {
  readonly natural: number;
  readonly whole: boolean;
}

/** The columns that fit `width` side by side, each with the width that it gets. Without `width`, all as wide as they are. */
export function fitColumns(
  all: readonly Column[],
  width: number | undefined,
  { whole = [], narrowing = [], short = (cells) => cells }: FitOptions,
): readonly FittedColumn[] {
  const measure = ({ head, cells }: Column): Measured => ({
    head,
    cells,
    natural: Math.max(textWidth(head), ...cells.map(textWidth)),
    whole: whole.includes(head),
  });
  let columns = all.map(measure);
  if (width === undefined) return columns.map((column) => ({ ...column, width: column.natural }));
  for (const step of narrowing) {
    if (sum(columns.map(leastWidth)) <= roomFor(columns, width)) break;
    columns =
      'drop' in step
        ? columns.filter(({ head }) => head !== step.drop)
        : columns.map((column) =>
            column.head === step.shorten ? measure({ ...column, cells: short(column.cells) }) : column,
          );
  }
  return narrowed(columns, roomFor(columns, width));
}

const leastWidth = ({ whole, natural }: Measured): number => (whole ? natural : Math.min(natural, readable));

const roomFor = (columns: readonly Measured[], width: number): number =>
  width - gap.length * (columns.length - 1);

/** Takes a column at a time away from the widest, of those that may give way first, until all fit. */
function narrowed(columns: readonly Measured[], room: number): FittedColumn[] {
  const widths = columns.map(({ natural }) => natural);
  let excess = sum(widths) - room;
  for (const sparing of [true, false]) {
    for (; excess > 0; excess -= 1) {
      const candidates = widths.map((own, i) => (sparing && columns[i]?.whole === true ? 0 : own));
      const widest = Math.max(...candidates);
      if (widest <= narrowest) break;
      widths[candidates.indexOf(widest)] = widest - 1;
    }
  }
  return columns.map((column, i) => ({ ...column, width: widths[i] ?? 0 }));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
