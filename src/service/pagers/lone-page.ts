import type { ScannedRecord } from '../../json/scanner.ts';
import { oldestOfNewestFirst, readCreatedAt } from '../../lead/raw-lead.ts';
import { isUsualCap } from './ends.ts';
import { linksIn } from './hints.ts';
import { complete, type Complete, isSame, type PageAnswer, unproven, type Unproven } from './pager.ts';

/** What is known of a list beside its answers. */
export interface ListFacts {
  /** Pages may overlap: what comes twice is dropped. */
  readonly overlaps: boolean;
  /** Whether this reading of the list has met a lead. */
  readonly isMet: (record: ScannedRecord) => boolean;
  readonly isFiltered: boolean;
  /** The service has given a list before. */
  readonly isKnownList: boolean;
  /** Up to so many leads, one page was everything. */
  readonly provenUpTo: number;
  /** Only leads that were created since then are asked for; ms. */
  readonly since: number | undefined;
  /** Whether the oldest lead that the run before had, and that is asked for again, has come. */
  readonly hasOldestBefore: () => boolean;
}

/** Fewer are not cut: no service gives so few at once. */
export const fewest = 5;

/** Not usual, but as likely a limit as an accident. */
export const isRound = (count: number): boolean => count % 10 === 0 || count % 16 === 0;

/** What answers to a smaller size show of the one page of a list. */
export class ShownByLimit {
  /** By some name; and by the usual one, by which the first page was asked for. */
  isHonouredBySome = false;
  isHonoured = false;
  isIgnored = false;
  /** There is more, as such an answer says and the page does not. */
  saysMore = false;
  isTotalOfPage = false;
  /** A total of leads, which a smaller size leaves as it is. */
  isTotal = false;
  total: number | undefined;

  note(answer: PageAnswer, first: PageAnswer): void {
    const { limit, limitNames } = answer.request;
    const { count } = answer.facts;
    this.isIgnored ||= limit !== undefined && limit < count && count === first.facts.count;
    const isShortened = limit !== undefined && count === limit && count < first.facts.count;
    if (!isShortened) return;
    const { hasMore, next, total } = answer.hints;
    this.isTotalOfPage ||= total !== undefined && this.total !== undefined && total < this.total;
    this.isTotal ||= total !== undefined && total === this.total;
    if (total !== undefined) this.total = Math.max(total, this.total ?? 0);
    if (!isSame(answer.head[0], first.head[0])) return;
    this.isHonouredBySome = true;
    this.isHonoured ||= limitNames === undefined;
    const isLinked = linksIn(answer.facts.headers['link'])?.has('next') === true;
    this.saysMore ||= hasMore === true || Boolean(next) || isLinked;
  }
}

/** As many came as were asked for. */
const wasAskedFor = ({ facts: { count }, request }: PageAnswer, { isIgnored }: ShownByLimit): boolean =>
  count === request.limit && (!isIgnored || count === 1);

/** Fewer leads came than were asked for, and not as many as services often give at once: all, where that limit is honoured. */
export function mayProveByLimit(first: PageAnswer, shown: ShownByLimit): boolean {
  const { count } = first.facts;
  const isAtCap = wasAskedFor(first, shown) || isUsualCap(count) || count === first.hints.pageSize;
  return count < (first.request.limit ?? 0) && !isAtCap && !isRound(count);
}

/** Nothing leads past the page: it is everything where the service's answers, or the run before, show it. */
export function judgeLonePage(first: PageAnswer, facts: ListFacts, shown: ShownByLimit): Complete | Unproven {
  const { hints } = first;
  const { count } = first.facts;
  const { isFiltered, provenUpTo } = facts;
  const { total = 0 } = shown;
  if (hints.hasMore === true) return unproven({ kind: 'more-without-parameter' });
  if ((hints.pages ?? 1) > 1) return unproven({ kind: 'nothing-new' });
  if (total > count && !isFiltered) return unproven({ kind: 'total-out-of-reach', total, met: count });
  const isAsAsked = wasAskedFor(first, shown);
  const upTo = Math.max(count - 1, provenUpTo);
  if (count <= provenUpTo && !isAsAsked) return complete('not-paged', provenUpTo);
  if (total > 0 && total === count && !shown.isTotalOfPage) return complete('not-paged', upTo);
  if (shown.isHonoured && mayProveByLimit(first, shown)) return complete('not-paged', upTo);
  if (shown.saysMore && hints.pageSize !== count) return complete('explicit-end');
  if (hints.pages === 1) return complete('explicit-end');
  if (reachesBack(first, facts)) return complete('reaches-back');
  const isFew = count < fewest && !isAsAsked && count !== hints.pageSize;
  if (isFew && (total <= count || isFiltered)) return complete('few');
  return unproven({ kind: 'page-may-be-cut', count });
}

/** The newest leads come first, and the oldest one that has to be there is among them. */
function reachesBack({ head, tail }: PageAnswer, { since, hasOldestBefore }: ListFacts): boolean {
  const oldest = oldestOfNewestFirst(tail);
  if (oldest === undefined || readCreatedAt(head[0]?.createdAt) === oldest) return false;
  return hasOldestBefore() || (since !== undefined && oldest < since);
}
