import { otherValues } from '../../stats/value-counts.ts';
import type { CountedWindow } from './plan.ts';

/** One value of a field, or all others together. */
interface RankedRow {
  readonly value: string;
  readonly count: number;
}

export interface RankedFacet {
  readonly key: string;
  readonly title: string;
  readonly rows: readonly RankedRow[];
}

/** The values of each field, most frequent first, `top` of them at most, and the others together. */
export const rankedFacets = ({ leads }: CountedWindow, top: number): RankedFacet[] =>
  leads.facets.map(({ key, title }, i) => {
    const { values, other } = leads.valuesOf(i).ranked(top);
    const rows = values.map(([value, count]) => ({ value, count }));
    return { key, title, rows: other === 0 ? rows : [...rows, { value: otherValues, count: other }] };
  });

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
