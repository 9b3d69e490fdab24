import type { RequestParams } from '../pagination/request-params.ts';
import type { EndNote, UnprovenReason } from '../problems.ts';
import type { Completion, Evidence } from './incomplete-error.ts';
import type { Narrowed, Narrowing, PageCensus } from './page-census.ts';
import { isUsualCap, lonePageEnd } from './walk-state.ts';
import type { LeadQuery, RunBefore } from './listing-types.ts';

/** The one page of a service that honours no position, and all that is known of it. */
export interface LonePage {
  readonly params: RequestParams;
  readonly count: number;
  /** Different leads that were met, and leads in all as an answer says; 0: none says so. */
  readonly met: number;
  readonly total: number;
  /** The total is the number of leads in its answer, whatever that is. */
  readonly isTotalOfPage: boolean;
  /** The page sizes that were sent and that the answer shows. */
  readonly size: number | undefined;
  readonly shownSize: number | undefined;
  /** It is page 1 of 1, as the answer says. */
  readonly isOnly: boolean;
  /** Whether a limit of 1 brings one lead; undefined: it was not asked. */
  readonly honoursLimit: boolean | undefined;
  /** The one that came says that there is more, which the page itself does not. */
  readonly saysMore: boolean;
  /** Others came in the place of some of its leads when it was asked for again. */
  readonly isCut: boolean;
  /** An offset is rejected, as it is behind the end of a list that has become shorter. */
  readonly isRejected: boolean;
  readonly isFiltered: boolean;
  /** Up to so many leads, one page was everything. */
  readonly provenUpTo: number;
  /** Only leads that were created since then are asked for; ms. */
  readonly since: number | undefined;
  /** The oldest lead that the run before had, and that is asked for again, is there. */
  readonly hasOldestBefore: boolean;
  readonly census: PageCensus | undefined;
  readonly narrowed: readonly Narrowed[];
}

/** What follows from a lone page: an end, or a narrower request that may prove one. */
export type LonePageStep =
  | { readonly kind: 'end'; readonly completion: Completion; readonly note?: EndNote | undefined }
  | { readonly kind: 'narrow'; readonly by: Narrowing };

/** Fewer than that are not cut: no service gives so few at once. */
const fewest = 5;
/** By filters that work; and in all. */
const mostNarrowings = 2;
const mostTried = 3;

interface Proof {
  readonly evidence: Evidence;
  readonly holds: (page: LonePage) => boolean;
  /** It shows that the service gives all of its leads in one answer, up to so many. */
  readonly upTo?: (page: LonePage) => number;
}

/** As many leads as came may be as many as the service gives: only fewer are known to be all. */
const ofThisPage = ({ count, provenUpTo }: LonePage): number => Math.max(count - 1, provenUpTo);

/** What proves a lone page, without a further request. */
const proofs: readonly Proof[] = [
  // An earlier run, or doctor, had a proof for as many.
  {
    evidence: 'not-paged',
    holds: (page) => page.count <= page.provenUpTo && !isAsAsked(page),
    upTo: ({ provenUpTo }) => provenUpTo,
  },
  {
    evidence: 'not-paged',
    holds: ({ total, met, isTotalOfPage }) => total > 0 && total === met && !isTotalOfPage,
    upTo: ofThisPage,
  },
  // More was asked for than came, of a service that knows how many were asked for.
  {
    evidence: 'not-paged',
    holds: (page) =>
      page.honoursLimit === true && page.count < (page.size ?? 0) && !isAtCap(page) && !isRound(page.count),
    upTo: ofThisPage,
  },
  // Where the service has more it says so, as it did for a limit of 1.
  { evidence: 'explicit-end', holds: ({ saysMore, shownSize, count }) => saysMore && shownSize !== count },
  { evidence: 'explicit-end', holds: ({ isOnly }) => isOnly },
  // The newest leads come first, and older ones than any that are asked for stand behind them.
  { evidence: 'reaches-back', holds: reachesBack },
  {
    evidence: 'few',
    holds: (page) =>
      page.count < fewest && page.total <= page.met && !isAsAsked(page) && page.count !== page.shownSize,
  },
];

/** Whether one page is everything, what it takes to find that out, or why it cannot be known. */
export function judgeLonePage(page: LonePage): LonePageStep {
  const { count, total, met, isFiltered, isRejected, narrowed } = page;
  const isOver = total > Math.max(met, count);
  if (isOver && (!isFiltered || isRejected || page.isCut || isAtCap(page)))
    return unproven({ kind: 'total-out-of-reach', total, met });
  if (page.isCut) return unproven({ kind: 'page-may-be-cut', count });
  const cut = narrowed.find(({ shows }) => shows === 'cut');
  if (cut !== undefined) return unproven({ kind: 'page-is-cut', count, by: cut.of.by });
  const proof = proofs.find(({ holds }) => holds(page));
  if (proof !== undefined) return complete(proof.evidence, proof.upTo?.(page));
  const by = nextNarrowing(page);
  if (by !== undefined) return { kind: 'narrow', by };
  if (narrowed.some(({ shows }) => shows === 'all')) return complete('not-paged', ofThisPage(page));
  if (isAtCap(page)) return unproven({ kind: 'page-may-be-cut', count });
  return complete(
    'lone-page',
    undefined,
    isOver ? { kind: 'total-may-ignore-filter', total, met } : { kind: 'lone-page', count },
  );
}

const unproven = (reason: UnprovenReason): LonePageStep => ({
  kind: 'end',
  completion: { kind: 'unproven', reason },
});

const complete = (evidence: Evidence, upTo?: number, note?: EndNote): LonePageStep => ({
  kind: 'end',
  completion: { kind: 'complete', evidence, ...(upTo !== undefined && { provenUpTo: upTo }) },
  note,
});

/** A part of the page that is still to be asked for, by a filter that has not shown that it is none. */
function nextNarrowing({ census, params, narrowed }: LonePage): Narrowing | undefined {
  const useless = narrowed.filter(({ shows }) => shows === 'nothing').map(({ of }) => of.by);
  if (narrowed.length - useless.length >= mostNarrowings || narrowed.length >= mostTried) return undefined;
  return census
    ?.narrowings(params)
    .find(
      ({ by, value }) =>
        !useless.includes(by) && !narrowed.some(({ of }) => of.by === by && of.value === value),
    );
}

function reachesBack({ census, since, hasOldestBefore }: LonePage): boolean {
  const oldest = census?.oldestOfNewestFirst;
  return oldest !== undefined && (hasOldestBefore || (since !== undefined && oldest < since));
}

/** As many came as were asked for; one lead cannot show whether a limit of one is honoured. */
const isAsAsked = ({ count, size, honoursLimit }: LonePage): boolean =>
  count === size && (honoursLimit !== false || count === 1);

const isAtCap = (page: LonePage): boolean =>
  isUsualCap(page.count) || page.count === page.shownSize || isAsAsked(page);

/** Not usual, but as likely a limit as an accident. */
const isRound = (count: number): boolean => count % 10 === 0 || count % 16 === 0;

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
    const lone = lonePageEnd(end);
    if (lone?.kind === 'proven') this.#provenUpTo = Math.max(lone.upTo, this.#provenUpTo ?? 0);
  }
}
