export const noValue = '(none)';

export const otherValues = '(other)';

/** At most so many different values of a field are counted apart, and at most so many UTF-16 units of text. */
export const mostValues = 100_000;
export const mostText = 16 * 1024 * 1024;

interface RankedCounts {
  /** Most frequent first; equally frequent ones in the order of their UTF-16 units. */
  readonly values: readonly (readonly [value: string, count: number])[];
  readonly remaining: number;
}

/** Counts the values of one field in bounded memory: once that is full, new values count as other ones. */
export class ValueCounts {
  readonly #counts = new Map<string, { count: number }>();
  #text = 0;
  #beyond = 0;

  add(value: string): void {
    const entry = this.#counts.get(value);
    if (entry !== undefined) entry.count += 1;
    else if (this.#counts.size < mostValues && this.#text + value.length <= mostText) {
      this.#text += value.length;
      this.#counts.set(detached(value), { count: 1 });
    } else this.#beyond += 1;
  }

  get isFull(): boolean {
    return this.#beyond > 0;
  }

  ranked(limit: number): RankedCounts {
    const listed = [...this.#counts]
      .filter(([value]) => value !== otherValues)
      .map(([value, { count }]) => [value, count] as const)
      .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
    const remaining = listed.slice(limit).reduce((sum, [, count]) => sum + count, this.#beyond);
    const ofOthers = this.#counts.get(otherValues)?.count ?? 0;
    return { values: listed.slice(0, limit), remaining: remaining + ofOthers };
  }
}

/** Copies a text: a part of a longer text would keep all of that in memory. */
const detached = (value: string): string => Buffer.from(value, 'utf16le').toString('utf16le');
