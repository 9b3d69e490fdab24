import { FieldPresence } from '../lead/filter.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import { type Facet, FieldValues } from './field-values.ts';
import { TimeCounts } from './time-series.ts';

export interface LeadGrouping {
  readonly facets: readonly Facet[];
  /** The facets that were asked for by their paths, which may be misspelt. */
  readonly namedFacets: readonly string[];
  readonly zone: string;
}

export class LeadCounts {
  readonly times: TimeCounts;
  readonly namedFields: FieldPresence;
  readonly #fieldValues: FieldValues;
  readonly #byFacet: readonly { readonly facet: Facet; readonly counts: ValueCounts }[];
  total = 0;
  /** Leads whose time is not known; the total includes them. */
  undated = 0;

  constructor({ facets, namedFacets, zone }: LeadGrouping) {
    this.times = new TimeCounts(zone);
    this.namedFields = new FieldPresence(namedFacets);
    this.#fieldValues = new FieldValues(facets);
    this.#byFacet = facets.map((facet) => ({ facet, counts: new ValueCounts() }));
  }

  add(lead: RawLead, time: number | undefined): void {
    this.total += 1;
    if (time === undefined) this.undated += 1;
    else this.times.add(time);
    this.namedFields.examineLead(lead);
    const valuesByFacet = this.#fieldValues.ofBytes(lead);
    for (const [i, { counts }] of this.#byFacet.entries()) {
      for (const value of valuesByFacet[i] ?? []) counts.add(value);
    }
  }

  /** The `top` most frequent values of each facet with their counts, then all others as `(other)`. */
  ranked(top: number) {
    return this.#byFacet.map(({ facet: { key, title }, counts }) => {
      const { listed, remaining } = counts.ranked(top);
      const rows = remaining === 0 ? listed : [...listed, [otherValues, remaining] as const];
      return { key, title, rows };
    });
  }

  get keysOfFullFacets(): readonly string[] {
    return this.#byFacet.filter(({ counts }) => counts.isFull).map(({ facet }) => facet.key);
  }
}

export const otherValues = '(other)';

/** At most so many different values of a field are counted apart, and at most so many UTF-16 units of text. */
export const mostValues = 100_000;
export const mostText = 16 * 1024 * 1024;

/** Counts the values of one field in bounded memory: once that is full, new values count as other ones. */
export class ValueCounts {
  readonly #counts = new Map<string, { count: number }>();
  #textLength = 0;
  #countWhenFull = 0;

  add(value: string): void {
    const entry = this.#counts.get(value);
    if (entry !== undefined) entry.count += 1;
    else if (this.#counts.size < mostValues && this.#textLength + value.length <= mostText) {
      this.#textLength += value.length;
      this.#counts.set(detached(value), { count: 1 });
    } else this.#countWhenFull += 1;
  }

  get isFull(): boolean {
    return this.#countWhenFull > 0;
  }

  /** Ranks values with their counts, the most frequent first; equally frequent ones in the order of their UTF-16 units. */
  ranked(top: number) {
    const ranked = [...this.#counts]
      .filter(([value]) => value !== otherValues)
      .map(([value, { count }]) => [value, count] as const)
      .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
    const literallyOther = this.#counts.get(otherValues)?.count ?? 0;
    const unranked = this.#countWhenFull + literallyOther;
    const remaining = ranked.slice(top).reduce((sum, [, count]) => sum + count, unranked);
    return { listed: ranked.slice(0, top), remaining };
  }
}

/** Copies a text: a part of a longer text would keep all of that in memory. */
const detached = (value: string): string => Buffer.from(value, 'utf16le').toString('utf16le');
