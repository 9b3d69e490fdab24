import type { DataError } from '../../errors.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import { readCreatedAt } from '../../lead/created-at.ts';
import type { Clock } from '../../time/clock.ts';
import { hintsOf, type NextPage, nextPageOf, type NullNext } from '../pagination/next-page.ts';
import type { PageFacts, PaginationHints } from '../pagination/pagination-hints.ts';
import { afterOf, keyOf, numberOf, type Position } from '../pagination/position.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import type { Border } from './border-check.ts';
import { complete, type Completion, type Evidence, unproven } from './completion.ts';
import type { PageTally } from './passes.ts';
import type { Totals } from './totals.ts';

/** Empty pages of a numbered list in a row, each of which names a next one, before that is taken for its end. */
const mostEmptyPages = 3;
/** Pages in a row that bring nothing new because leads arrive in front faster than pages are read. */
const mostIdlePages = 20;

/** Decides from one page after the other where the walk goes, and what its end proves. */
export class StepDecider {
  readonly #params: RequestParams;
  readonly #nullNext: NullNext;
  readonly #clock: Pick<Clock, 'now'>;
  #previous: { readonly count: number; readonly marks: string } | undefined;
  /** Records on the longest page: a page that is shorter than others may be the last. */
  #longest = 0;
  /** A position has brought a different page. */
  #isHonoured = false;
  /** The page before named the next one: a position that it named and rejects is no end. */
  #isAnnounced = false;
  #empty = 0;
  #idle = 0;

  constructor(params: RequestParams, nullNext: NullNext, clock: Pick<Clock, 'now'>) {
    this.#params = params;
    this.#clock = clock;
    this.#nullNext = nullNext;
  }

  /** The list is read from its front once more. */
  beginPass(): void {
    this.#previous = undefined;
    this.#empty = 0;
    this.#idle = 0;
  }

  /** Probes have seen a position honoured. */
  noteHonoured(): void {
    this.#isHonoured = true;
  }

  /** Whether the page before named the next one. */
  get isAnnounced(): boolean {
    return this.#isAnnounced;
  }

  get #isAuto(): boolean {
    return this.#params.pagination === 'auto';
  }

  get hasRead(): boolean {
    return this.#previous !== undefined;
  }

  /** `size` is the page size that was sent; `totals` have counted the leads of this page. */
  afterPage(position: Position, page: WholePage, size: number | undefined, totals: Totals): Step {
    const { facts, tally, leads } = page;
    const { count, lastId } = facts;
    const previous = this.#previous;
    const hints = hintsOf(this.#params, facts);
    totals.note(hints.total);
    const answeredAt = Date.parse(facts.headers['date'] ?? '');
    totals.noteTimes(
      Number.isNaN(answeredAt) ? this.#clock.now() : answeredAt,
      readCreatedAt(leads.at(-1)?.createdAt),
    );
    const isFull = previous === undefined ? looksFull(count, size) : count === size || count >= this.#longest;
    const isShort = count < this.#longest;
    const marks = `${count} ${page.firstMark} ${page.lastMark}`;
    const isSame = previous?.marks === marks;
    const next = nextPageOf(this.#params, position, facts, hints, this.#nullNext, {
      met: totals.met,
      isFull,
    });
    this.#previous = { count, marks };
    const wasAnnounced = this.#isAnnounced;
    this.#isAnnounced = isAnnounced(hints, next);
    this.#empty = count === 0 ? this.#empty + 1 : 0;
    if (position.style !== 'start' && !isSame) this.#isHonoured = true;
    // Without what the page repeats of others or of itself: that makes no page of the rest short.
    this.#longest = Math.max(this.#longest, count - tally.repeated);
    if (count === 0) return this.#afterEmpty(position, next, hints);
    const isOverlapOnly = tally.identified + tally.withoutId === 0;
    const bringsNothing =
      isOverlapOnly ||
      (tally.identified > 0 && tally.fresh === 0 && leads.length === 0) ||
      (tally.identified === 0 && isSame);
    this.#idle = bringsNothing ? this.#idle + 1 : 0;
    if (!bringsNothing || next.kind === 'end' || next.kind === 'total-reached')
      return this.#step(next, isFull, totals);
    const isLastAgain = isSame && isShort && this.#isHonoured && numberOf(position)?.kind === 'page';
    const kind = numberOf(position)?.kind;
    const isOverlap = kind === 'offset' && isOverlapOnly;
    const endsWithKnown =
      lastId !== undefined && lastId === afterOf(position) && !isSame && (isShort || isOverlap);
    // The answer covers places behind the last record; or, past the end, some services give their last page again.
    if (kind !== undefined && (endsWithKnown || isLastAgain)) return this.#nothingBehind(hints);
    // The first page again, for a number that only we thought of: the service may not page at all.
    const isOurs = position.style === 'page' || position.style === 'offset';
    const isPageOfMore = hints.hasMore === true || (hints.pages ?? 0) > 1;
    if (isSame && isOurs && !this.#isHonoured && !wasAnnounced && !isPageOfMore && this.#isAuto) {
      return { kind: 'probe', reason: { kind: 'silent' } };
    }
    // As many leads as a page holds may have arrived: one more page shows whether the number is ignored.
    const isDecided = isSame && !this.#isHonoured && this.#idle > 1;
    if (
      next.kind === 'next' &&
      numberOf(next.position) !== undefined &&
      !isDecided &&
      this.#idle < mostIdlePages
    ) {
      return { kind: 'go', position: next.position };
    }
    return end(unproven('a page brought no new lead: the service gave one again that it had given before'));
  }

  /** The service rejected a position behind a page that was read. */
  afterRejection(position: Position, { status, message }: DataError): Step {
    // A parameter of ours that was never honoured: whether there is another one, probes will show.
    if (!this.#isHonoured && !this.#isAnnounced) return { kind: 'probe', reason: { kind: 'silent' } };
    const { count = 0 } = this.#previous ?? {};
    const isOurs = !this.#isAnnounced || numberOf(position)?.kind !== undefined;
    const isEvidence = this.#isHonoured && isOurs && (status === 404 || count < this.#longest);
    return isEvidence
      ? proven('nothing-behind')
      : end(unproven(`the service rejected the page behind the last one that was read: ${message}`));
  }

  #step(next: NextPage, isFull: boolean, totals: Totals): Step {
    switch (next.kind) {
      case 'next':
        return { kind: 'go', position: next.position };
      case 'end':
        return proven(next.evidence);
      case 'total-reached':
        return proven('total');
      case 'behind-id':
        return { kind: 'probe', reason: next };
      case 'contradiction':
        return end(unproven(next.why));
      case 'silent': {
        return totals.isSettled && !isFull ? proven('total') : { kind: 'probe', reason: { kind: 'silent' } };
      }
    }
  }

  #afterEmpty(position: Position, next: NextPage, hints: PaginationHints): Step {
    if (next.kind === 'contradiction') return end(unproven(next.why));
    if (next.kind === 'end') return proven(next.evidence);
    const number = numberOf(position);
    // A next page that is only the following number, because no page says where the list ends.
    const isComputed =
      !hints.next &&
      (next.kind !== 'next' || next.position.style === 'page' || next.position.style === 'offset');
    if (next.kind === 'next' && !isComputed && keyOf(next.position) !== keyOf(position)) {
      const isCounting = numberOf(next.position) !== undefined || number !== undefined;
      if (!isCounting || this.#empty < mostEmptyPages || hints.hasMore === true) {
        return { kind: 'go', position: next.position };
      }
    }
    if (position.style === 'start' && next.kind !== 'behind-id') return proven('empty');
    return this.#nothingBehind(hints, position);
  }

  #nothingBehind({ hasMore, pages }: PaginationHints, empty?: Position): Step {
    if (hasMore === true) {
      return end(unproven('the service says that there is more, and sends no further lead'));
    }
    if (empty?.style === 'page' && pages !== undefined && empty.page < pages) {
      return end(unproven(`page ${empty.page} of ${pages} is empty`));
    }
    return proven('nothing-behind');
  }
}

/** Whether a page says itself that there is a next one. */
const isAnnounced = ({ next, hasMore }: PaginationHints, page: NextPage): boolean =>
  Boolean(next) || hasMore === true || (page.kind === 'next' && page.position.style === 'url');

const end = (completion: ReturnType<typeof unproven>): Step => ({ kind: 'end', completion });
const proven = (evidence: Evidence): Step => ({ kind: 'end', completion: complete(evidence) });

/** Why a walk has to find out by requests of its own where it goes on. */
export type ProbeReason =
  /** An answer says nothing about a next page, or the service rejected the one that was computed. */
  | { readonly kind: 'silent' }
  /** The service says that more follows, and nothing else; this is the last id. */
  | { readonly kind: 'behind-id'; readonly id: string }
  /** The offset that was found is ignored after all. */
  | { readonly kind: 'ignored' };

/** A page that came whole. */
export interface WholePage {
  readonly kind: 'page';
  readonly facts: PageFacts;
  /** New leads of the last part; the parts before it were handed out. */
  readonly leads: readonly ScannedRecord[];
  /** Of all parts. */
  readonly tally: PageTally;
  readonly firstId: string | undefined;
  /** Of the first record and of the last one: they tell pages apart whose records have no ids. */
  readonly firstMark: string;
  readonly lastMark: string;
}

/** What reading one position came to. */
export type PageOutcome =
  | WholePage
  /** Records may lie between the page before and this one: the list moved. */
  | { readonly kind: 'moved'; readonly border: Exclude<Border, 'joined'> }
  /** The service rejected the page size, or took it for a filter: the same position is to be read with another one. */
  | { readonly kind: 'size-rejected' }
  /** The service ignores the position that probes have found: the first page came again. */
  | { readonly kind: 'ignored' }
  /** The service rejected a position behind a page that was read. */
  | { readonly kind: 'rejected'; readonly error: DataError };

/** Where a walk goes from a page. */
export type Step =
  | { readonly kind: 'go'; readonly position: Position }
  /** It has to be found out by requests of its own. */
  | { readonly kind: 'probe'; readonly reason: ProbeReason }
  | { readonly kind: 'end'; readonly completion: Completion };

export const go = (position: Position): Step => ({ kind: 'go', position });

const usualCaps = [10, 20, 25, 50, 100, 200, 250, 500];

/** Whether `count` is a number at which services cut their pages. */
export const isUsualCap = (count: number): boolean =>
  usualCaps.includes(count) || (count > 0 && count % 1000 === 0);

/** Whether a page of `count` may have been cut: at the size that was sent, or at a usual cap below it. */
export const looksFull = (count: number, pageSize: number | undefined): boolean =>
  count > 0 && (count === pageSize || ((pageSize === undefined || count <= pageSize) && isUsualCap(count)));
