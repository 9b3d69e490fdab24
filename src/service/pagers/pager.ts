import type { LeadsError, Problem } from '../../errors.ts';
import type { Front, Hint } from '../../front.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { PageFacts, PaginationHints } from './hints.ts';
import type { Position } from './position.ts';

/**
 * `limit`: records asked for; undefined: as many as the service gives by itself. `limitNames`: all parameters that are sent with the
 * limit; undefined: the one name of the dialect. `isProbe`: it looks for a way or for what moved, and may fail.
 */
export interface PageRequest {
  readonly kind: 'page';
  readonly position: Position;
  readonly limit: number | undefined;
  readonly limitNames?: readonly string[];
  readonly isProbe?: boolean;
}

/**
 * The proof that a list was read to its end. `explicit-end`: `next: null`, `has_more: false`, or no `rel=next` where one was before.
 * `nothing-behind`: a request after the last record, by a position that the service honours, found nothing. `not-paged`: the service
 * ignores or rejects every position, and its one answer is everything. `few`: the page has too few leads to be cut. `reaches-back`: it
 * has older leads than any that were asked for. `affirmed`: the user says so, by `api.pagination none`.
 */
export type Evidence =
  'explicit-end' | 'total' | 'nothing-behind' | 'empty' | 'not-paged' | 'few' | 'reaches-back' | 'affirmed';

export interface Complete {
  readonly kind: 'complete';
  readonly evidence: Evidence;
  /** The answer names no next page, which this service names as a rule. */
  readonly isNextMissing?: boolean;
}

export interface Unproven {
  readonly kind: 'unproven';
  readonly reason: Problem;
}

/** The list is read once more, from its start, by this pager. `isRestart`: the reading so far does not count as one. */
interface Reread {
  readonly kind: 'reread';
  readonly pager: Pager;
  readonly isRestart?: boolean;
}

/** From here on, another pager is shown the answers; `step` is its first one. */
interface Switch {
  readonly kind: 'switch';
  readonly pager: Pager;
  readonly step: DirectStep;
}

export type DirectStep = PageRequest | Complete | Unproven | Reread;
export type PagerStep = DirectStep | Switch;

/**
 * The effect of a list that moves on the pages of a reading. `anchored`: positions name a record, or there is one page; nothing is hidden.
 * `overlapped`: positions count records, and pages overlap, so that the pager sees what moves. `counted`: positions count records or
 * pages; only a total, or a second reading, shows whether the list has moved.
 */
export type Movement = 'anchored' | 'overlapped' | 'counted';

/**
 * A page. `head`, `tail`: its records; of one beyond 2 MiB, the first 2 MiB and what came last. `fresh`: records that this reading of
 * the list had not met; `leadingFresh`: those of them before the first one that it had. `hash`: equal for the same records in the same
 * order. `isSkipped`: the pager did not accept the page, and its records do not count.
 */
export interface PageAnswer {
  readonly kind: 'answer';
  readonly request: PageRequest;
  readonly facts: PageFacts;
  readonly hints: PaginationHints;
  readonly head: readonly ScannedRecord[];
  readonly tail: readonly ScannedRecord[];
  readonly fresh: number;
  readonly leadingFresh: number;
  readonly hash: number;
  readonly isSkipped: boolean;
}

export interface Rejection {
  readonly kind: 'rejected';
  readonly request: PageRequest;
  readonly error: Pick<LeadsError, 'status' | 'message'>;
}

export type PagerAnswer = PageAnswer | Rejection;

/** A way through a list: pure, without requests of its own and without a clock. */
export interface Pager {
  readonly movement: Movement;
  first(): PageRequest;
  next(answer: PagerAnswer): PagerStep;
  /**
   * Whether the page is read that begins with this record; where it is skipped, `next` decides what to ask for instead.
   * `isEarly`: it was requested before the page before it was read.
   */
  accepts?(request: PageRequest, first: ScannedRecord, isEarly: boolean): boolean;
  /** Pages that probably come after this request, for several requests at once. */
  ahead?(request: PageRequest, many: number): PageRequest[];
  /** The same way from the start of the list. */
  restarted(): Pager;
}

export const complete = (evidence: Evidence): Complete => ({ kind: 'complete', evidence });

const exampleParams = (front: Front): string =>
  `${front.set('api.params.page', 'pageNo')} or ${front.set('api.params.offset', 'from')}`;

export const hintToSetParameter = (front: Front): string =>
  [front.learning, `if you know the parameter that it pages by, as in ${exampleParams(front)}`]
    .filter((text) => text !== undefined)
    .join('; ');

export const unproven = (message: string, hint: Hint = hintToSetParameter, kind = 'unproven'): Unproven => ({
  kind: 'unproven',
  reason: { kind, message, hint },
});

export const nothingNew = unproven(
  'a page brought no new lead: the service gave one again that it had given before',
);

export const moreWithoutLeads = unproven('the service says that there is more, and sends no further lead');

export const moreThanPage = unproven(
  'the service listed leads that its page lacks, and no position leads from one to the next',
);

export const moreWithoutPosition = unproven(
  'the service says that there is more, and its answer does not lead there',
);

export const listKeptMoving = unproven(
  'leads kept moving between the pages while the list was read',
  (front) => `run it again when fewer leads change, or with a larger ${front.option('page-size')}`,
);

export const noList = unproven(
  'the answer holds no list of leads, not even an empty one',
  (front) => `is the path right? See ${front.set('api.path', '/…')} and ${front.set('api.items', '/…')}`,
);

const oneAnswerIsAll = (front: Front): string =>
  `one answer is everything: ${front.set('api.pagination', 'none')}`;

export const hintWhenPageMayBeCut = (front: Front): string =>
  `${hintToSetParameter(front)}; if ${oneAnswerIsAll(front)}`;

export const hintWhenSignIsUnread = (front: Front): string =>
  `${hintToSetParameter(front)}; if it means something else and ${oneAnswerIsAll(front)}`;

export const pageMayBeCut = 'page-may-be-cut';

const hintWhenTotalIsLarger = (front: Front): string =>
  `${hintToSetParameter(front)}; or, if it counts more than it lists: ${front.set('api.total', 'estimate')}`;

export const moreCounted = (message: string): Unproven => unproven(message, hintWhenTotalIsLarger);

export const totalOutOfReach = (total: number, met: number): Unproven =>
  moreCounted(`the service has ${total} leads, and its answers show no way past the first ${met}`);

export const rejectedBehind = ({ error }: Rejection): Unproven =>
  unproven(`the service rejected the page behind the last one that was read: ${error.message}`);

export const ask = (position: Position, limit: number | undefined): PageRequest => ({
  kind: 'page',
  position,
  limit,
});

export const probe = (position: Position, limit: number | undefined): PageRequest => ({
  ...ask(position, limit),
  isProbe: true,
});

export const switchTo = (pager: Pager, step: PagerStep): PagerStep =>
  step.kind === 'switch' ? step : { kind: 'switch', pager, step };

export const continueWith = (pager: Pager, answer: PagerAnswer): PagerStep =>
  switchTo(pager, pager.next(answer));

/** Two records with the same id; those without one are the same where their bytes are. */
export function isSame(a: ScannedRecord | undefined, b: ScannedRecord | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (a.hasPlainId && b.hasPlainId)
    return a.source.compare(b.source, b.idStart, b.idEnd, a.idStart, a.idEnd) === 0;
  return a.hasId || b.hasId ? a.id === b.id : a.bytes.equals(b.bytes);
}

/** Pages in a row that bring nothing new because leads arrive faster than pages are read. */
export const mostIdlePages = 20;

const usualCaps = [
  10, 15, 16, 20, 25, 30, 32, 40, 50, 60, 64, 75, 80, 100, 128, 150, 200, 250, 256, 300, 500, 512, 1024,
];

/** Whether `count` is a number at which services cut their pages. */
export const isUsualCap = (count: number): boolean =>
  usualCaps.includes(count) || (count > 0 && count % 1000 === 0);

/**
 * Returns the evidence where the answer itself says that the list ends here. `read`: records of the list up to the end of this page;
 * `longestBefore`: the length of the longest page before this one, 0 on the first one. Some services cut the total as they cut the
 * page: a total that is reached with a full page is no end.
 */
export function endOf(
  { hints, facts: { count }, request }: PageAnswer,
  read: number,
  longestBefore = 0,
): Evidence | undefined {
  if (hints.hasMore === false) return 'explicit-end';
  if (hints.hasMore === true || count === 0 || hints.total !== read) return undefined;
  const isFull = longestBefore > 0 ? count >= longestBefore : count === request.limit || isUsualCap(count);
  return isFull ? undefined : 'total';
}

export const rejectsPosition = (status: number | undefined): boolean =>
  [400, 404, 410, 416, 422].includes(status ?? 0);

/** The least number of leads at which a service cuts its pages: a page with fewer is not cut. */
export const smallestCap = 5;

/**
 * The walk, as far as pagers have to know it. `overlaps`: pages may be requested a second time, also in part. `isMet`: in this reading.
 * `isFiltered`: a status or a category was asked for; a larger total may count what the filter leaves out, and says nothing against
 * `few`. `isKnownList`: an earlier answer was this list, so that one without an array is `empty` and not a wrong path. `reaches-back`
 * rests on `since`, the time from which leads were asked for (ms since the epoch), or on `hasOldestBefore`: whether this reading has met
 * the oldest lead of the run before among those that are asked for again.
 */
export interface ListFacts {
  readonly overlaps: boolean;
  readonly isMet: (record: ScannedRecord) => boolean;
  readonly isFiltered: boolean;
  readonly isKnownList: boolean;
  readonly since: number | undefined;
  readonly hasOldestBefore: () => boolean;
}
