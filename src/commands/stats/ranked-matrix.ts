import { otherValues } from '../../stats/value-counts.ts';
import type { CountedWindow } from './counted-windows.ts';

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
