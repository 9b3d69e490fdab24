import { detached, mostText, otherValues, ValueCounts } from './value-counts.ts';

/** Different pairs that are counted apart. */
const mostPairs = 100_000;

/** How often values of two fields occur together, in bounded memory: later pairs count as other ones. */
export class MatrixCounts {
  readonly #rows = new Map<string, ValueCounts>();
  #pairs = 0;
  #text = 0;
  #beyond = 0;

  add(row: string, column: string): void {
    const counts = this.#rows.get(row);
    if (counts !== undefined && counts.countOf(column) > 0) counts.add(column);
    else if (this.#hasRoomFor(row, column)) this.#insert(row, column);
    else this.#beyond += 1;
  }

  get isFull(): boolean {
    return this.#beyond > 0;
  }

  /** Counts of these rows by these columns; what is in none of them is `(other)`, where there is such. */
  table(
    rows: readonly string[],
    columns: readonly string[],
  ): ReadonlyMap<string, ReadonlyMap<string, number>> {
    const table = new Map(rows.map((row) => [row, new Map(columns.map((column) => [column, 0]))]));
    const heads = new Set(columns);
    const add = (row: string, column: string, count: number): void => {
      const name = table.has(row) ? row : otherValues;
      const cells = table.get(name) ?? new Map<string, number>();
      table.set(name, cells);
      const head = heads.has(column) ? column : otherValues;
      cells.set(head, (cells.get(head) ?? 0) + count);
    };
    for (const [row, counts] of this.#rows) {
      for (const [column, count] of counts.ranked(Infinity).values) add(row, column, count);
    }
    if (this.#beyond > 0) add(otherValues, otherValues, this.#beyond);
    return table;
  }

  #hasRoomFor(row: string, column: string): boolean {
    return this.#pairs < mostPairs && this.#text + row.length + column.length <= mostText;
  }

  #insert(row: string, column: string): void {
    this.#pairs += 1;
    this.#text += row.length + column.length;
    const counts = this.#rows.get(row) ?? new ValueCounts();
    if (!this.#rows.has(row)) this.#rows.set(detached(row), counts);
    counts.add(column);
  }
}
