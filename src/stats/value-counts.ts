/** What stands for a lead that has no such field, or null there. */
export const noValue = '(none)';

/** What stands for all values that are not listed by themselves. */
export const otherValues = '(other)';

/** Different values of one field that are counted apart, and the UTF-16 units that they may have together. */
export const mostValues = 100_000;
export const mostText = 16 * 1024 * 1024;

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
export const detached = (value: string): string => Buffer.from(value, 'utf16le').toString('utf16le');
