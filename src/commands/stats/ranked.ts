import { otherValues, type RankedCounts } from '../../stats/value-counts.ts';
import type { CountedWindow, CountedWindows } from './plan.ts';

/** One value of a field, or all others together, with its counts in both windows. */
interface RankedRow {
  readonly value: string;
  readonly count: number;
  readonly before: number;
}

export interface RankedFacet {
  readonly key: string;
  readonly title: string;
  readonly rows: readonly RankedRow[];
}

/**
 * The values of each field, most frequent first, `top` of them at most. The window before is asked for the same values;
 * one that only it has is among the other ones, unless there is room for it.
 */
export function rankedFacets({ current, previous }: CountedWindows, top: number): RankedFacet[] {
  return current.leads.facets.map(({ key, title }, i) => {
    const now = current.leads.valuesOf(i).ranked(top);
    const earlier = previous?.leads.valuesOf(i);
    const rows = now.values.map(([value, count]) => ({ value, count, before: earlier?.countOf(value) ?? 0 }));
    if (earlier === undefined) return { key, title, rows: withOther(rows, now.other, 0) };
    const listed = new Set(rows.map(({ value }) => value));
    const all: RankedCounts = earlier.ranked(Infinity);
    const gone = all.values.filter(([value, count]) => count > 0 && !listed.has(value));
    const shown = now.other > 0 ? [] : gone.slice(0, top - rows.length);
    const hidden = gone.slice(shown.length).reduce((sum, [, count]) => sum + count, all.other);
    const added = shown.map(([value, before]) => ({ value, count: 0, before }));
    return { key, title, rows: withOther([...rows, ...added], now.other, hidden) };
  });
}

const withOther = (rows: readonly RankedRow[], count: number, before: number): readonly RankedRow[] =>
  count + before === 0 ? rows : [...rows, { value: otherValues, count, before }];

/** Counts of leads by two fields: `cells[row][column]`. */
export interface RankedMatrix {
  readonly rowKey: string;
  readonly columnKey: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly cells: readonly (readonly number[])[];
}

/** At most so many values of each field, and the rest as `(other)`; undefined where leads were not counted by two. */
export function rankedMatrix(
  { leads }: CountedWindow,
  mostRows: number,
  mostColumns: number,
): RankedMatrix | undefined {
  const { matrix, facets } = leads;
  const [rowFacet, columnFacet] = facets;
  if (matrix === undefined || rowFacet === undefined || columnFacet === undefined) return undefined;
  const namesOf = (index: number, most: number): string[] =>
    leads
      .valuesOf(index)
      .ranked(most)
      .values.map(([value]) => value);
  const columns = namesOf(1, mostColumns);
  const table = matrix.table(namesOf(0, mostRows), columns);
  const hasOther = [...table.values()].some((cells) => cells.has(otherValues));
  const heads = hasOther ? [...columns, otherValues] : columns;
  return {
    rowKey: rowFacet.key,
    columnKey: columnFacet.key,
    rows: [...table.keys()],
    columns: heads,
    cells: [...table.values()].map((cells) => heads.map((head) => cells.get(head) ?? 0)),
  };
}
