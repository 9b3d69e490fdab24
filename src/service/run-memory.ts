import type { LeadQuery, RunBefore, Completion } from './listing-types.ts';

/** Up to so many leads, a walk has shown that one page is everything; undefined where the list pages. */
export const provenUpTo = (end: Completion | undefined): number | undefined =>
  end?.kind === 'complete' ? end.provenUpTo : undefined;

type Created = readonly [id: string, created: number];

/** What a complete walk leaves for the next one over the same list. */
export class RunMemory {
  #leads: readonly Created[];
  #provenUpTo: number | undefined;

  /** As an earlier process has left it. */
  constructor(leads: readonly Created[] = [], provenUpTo?: number) {
    this.#leads = leads;
    this.#provenUpTo = provenUpTo;
  }

  get provenUpTo(): number | undefined {
    return this.#provenUpTo;
  }

  /** What a walk with this query has to meet again. */
  before({ since = -Infinity, until = Infinity }: Pick<LeadQuery, 'since' | 'until'>): RunBefore {
    const overlap = this.#leads.filter(([, created]) => created >= since && created < until);
    overlap.sort(([, a], [, b]) => a - b);
    return { overlap: overlap.map(([id]) => id), provenUpTo: this.#provenUpTo };
  }

  /** The leads of a complete walk, or those of them that the next one may ask for, and how it ended. */
  keep(leads: Iterable<Created>, end: Completion | undefined): void {
    this.#leads = [...leads];
    const upTo = provenUpTo(end);
    if (upTo !== undefined) this.#provenUpTo = Math.max(upTo, this.#provenUpTo ?? 0);
  }
}
