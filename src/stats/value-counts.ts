/** What stands for a lead that has no such field, or null there. */
export const noValue = '(none)';

/** What stands for all values that are not listed by themselves. */
export const otherValues = '(other)';

/** Different values of one field that are counted apart, and the UTF-16 units that they may have together. */
export const mostValues = 100_000;
const mostText = 16 * 1024 * 1024;

export interface RankedCounts {
  /** Most frequent first; equally frequent ones in the order of their UTF-16 units. */
  readonly values: readonly (readonly [value: string, count: number])[];
  /** Of all values that are not among them. */
  readonly other: number;
}

/** How often each value of one field occurs, in bounded memory: once that is used up, new values count as other ones. */
export class ValueCounts {
  readonly #counts = new Map<string, { count: number }>();
  #text = 0;
  #beyond = 0;

  add(value: string): void {
    const found = this.#counts.get(value);
    if (found !== undefined) found.count += 1;
    else if (this.#hasRoomFor(value)) this.#insert(value);
    else this.#beyond += 1;
  }

  /** Whether values came for which there was no room. */
  get isFull(): boolean {
    return this.#beyond > 0;
  }

  countOf(value: string): number {
    return this.#counts.get(value)?.count ?? 0;
  }

  /** Of `most` values at most. */
  ranked(most: number): RankedCounts {
    const listed = [...this.#counts]
      .filter(([value]) => value !== otherValues)
      .map(([value, { count }]) => [value, count] as const)
      .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
    const other = listed.slice(most).reduce((sum, [, count]) => sum + count, this.#beyond);
    return { values: listed.slice(0, most), other: other + this.countOf(otherValues) };
  }

  #hasRoomFor(value: string): boolean {
    return this.#counts.size < mostValues && this.#text + value.length <= mostText;
  }

  #insert(value: string): void {
    this.#text += value.length;
    this.#counts.set(detached(value), { count: 1 });
  }
}

/** The same text in memory of its own: a part of a longer text would keep all of that. */
const detached = (value: string): string => Buffer.from(value, 'utf16le').toString('utf16le');

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
