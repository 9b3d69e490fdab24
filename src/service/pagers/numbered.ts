import type { ScannedRecord } from '../../json/scanner.ts';
import { endOf, rejectsPosition } from './ends.ts';
import type { PaginationHints } from './hints.ts';
import {
  type Answer,
  ask,
  complete,
  isSame,
  mostIdlePages,
  type PageAnswer,
  type Pager,
  type PageRequest,
  type Rejection,
  type Step,
  unproven,
} from './pager.ts';
import { type Position, start } from './position.ts';

/** How pages of one size are counted. */
export interface Count {
  /** Of the page at a number, counted from 0. */
  readonly position: (page: number) => Extract<Position, { readonly style: 'page' | 'offset' }>;
  /** The second page may be the first one once more. */
  readonly mayRepeatFirst?: boolean | undefined;
  /** Of a list whose total changes, where pages can overlap instead. */
  readonly overlapping?: (() => Pager) | undefined;
  /** Where no number is honoured; the first page was read. */
  readonly ignored?: ((first: PageAnswer) => Step) | undefined;
}

/** Pages that follow each other by number, each as long as the service makes them. */
export class NumberedPager implements Pager {
  readonly movement = 'counted';
  readonly #count: Count;
  #first: PageAnswer | undefined;
  #page = 0;
  /** Pages with leads that no page before had. */
  #read = 0;
  #limit: number | undefined;
  #isHonoured = false;
  #isAskedAgain = false;
  #longest = 0;
  #before: Pick<PageAnswer, 'hash' | 'facts'> | undefined;
  #met = 0;
  #total: number | undefined;
  #idle = 0;

  /** The total was smaller than what came: it counts something else. */
  #isTotalWrong: boolean;

  constructor(count: Count, isTotalWrong = false) {
    this.#count = count;
    this.#isTotalWrong = isTotalWrong;
  }

  /** Goes on at the page with this number, with the size that the pages before had. */
  resumeAt(page: number, limit: number | undefined): this {
    this.#page = page;
    this.#read = page;
    this.#limit = limit;
    return this;
  }

  first(): PageRequest {
    return this.#page === 0 ? ask(start, undefined) : this.#request(this.#limit);
  }

  again(): Pager {
    return new NumberedPager(this.#count, this.#isTotalWrong);
  }

  /** Goes on after pages that another pager has read; asks for the page with this number. */
  goOn(first: PageAnswer, page: number): Step {
    this.#note(first);
    this.#page = page - 1;
    this.#read = page;
    return this.#askNext(first);
  }

  next(answer: Answer): Step {
    if (answer.kind === 'rejected') return this.#afterRejection(answer);
    const { facts, hints, fresh, leadingFresh, head } = answer;
    if (facts.count === 0) return this.#afterEmpty(answer);
    if (fresh === 0) return this.#afterKnown(answer);
    this.#idle = 0;
    // The first page with leads that have arrived: the number is ignored, unless that page was meant.
    const isFirstAgain = fresh === leadingFresh && isSame(head[fresh], this.#first?.head[0]);
    if (isFirstAgain && !this.#isHonoured && !this.#mayBeFirst) return this.#ignored(answer);
    if (this.#first !== undefined && !isFirstAgain) this.#isHonoured = true;
    const longest = this.#longest;
    const isChanged = this.#total !== undefined && hints.total !== this.#total && !this.#isTotalWrong;
    this.#note(answer);
    this.#isTotalWrong ||= hints.total !== undefined && hints.total < this.#met;
    const evidence = endOf(answer, this.#isTotalWrong ? -1 : this.#met, longest);
    if (evidence !== undefined) return complete(evidence);
    if (isChanged && this.#count.overlapping !== undefined)
      return { kind: 'reread', pager: this.#count.overlapping(), isRestart: false };
    if (this.#isLast(hints) && facts.count < this.#longest) return complete('nothing-behind');
    return this.#askNext(answer);
  }

  /** As many pages were read as there are. */
  #isLast({ pages }: PaginationHints): boolean {
    return pages !== undefined && this.#read >= pages;
  }

  /** Records without an id would be taken for others where the first page comes once more. */
  takes(_: PageRequest, record: ScannedRecord): boolean {
    return !this.#mayBeFirst || record.hasId || !isSame(record, this.#first?.head[0]);
  }

  get #mayBeFirst(): boolean {
    return this.#page === 1 && this.#count.mayRepeatFirst === true;
  }

  ahead({ limit }: PageRequest, many: number): PageRequest[] {
    const pages = this.#total === undefined ? Infinity : Math.ceil(this.#total / Math.max(1, this.#longest));
    const numbers = Array.from({ length: many }, (_, i) => this.#page + 1 + i);
    return numbers.filter((page) => page < pages).map((page) => ask(this.#count.position(page), limit));
  }

  #note(answer: PageAnswer): void {
    this.#first ??= answer;
    this.#before = answer;
    this.#read += 1;
    this.#longest = Math.max(this.#longest, answer.facts.count);
    this.#met += answer.fresh;
    this.#total = answer.hints.total;
  }

  #request(limit: number | undefined): PageRequest {
    const request = ask(this.#count.position(this.#page), limit);
    return this.#mayBeFirst ? { ...request, isProbe: true } : request;
  }

  #askNext({ request }: PageAnswer): PageRequest {
    this.#page += 1;
    this.#isAskedAgain = false;
    return this.#request(request.limit);
  }

  #afterEmpty(answer: PageAnswer): Step {
    const { hints, request } = answer;
    if (this.#first === undefined && request.position.style === 'start') return complete('empty');
    if (hints.hasMore === true) {
      if (this.#isAskedAgain) return unproven({ kind: 'more-without-leads' });
      this.#isAskedAgain = true;
      return request;
    }
    // A list that ends is still in its envelope: a bare `null` in its place is what a failing service sends.
    const { root } = answer.facts.envelope;
    const isInEnvelope = (this.#first?.facts.envelope.path.length ?? 0) > 0;
    if (root === null && answer.facts.status === 200 && isInEnvelope) return unproven({ kind: 'no-list' });
    const { pages } = hints;
    const isKnown = this.#count.mayRepeatFirst !== true && request.position.style === 'page';
    if (pages !== undefined && isKnown && this.#page + 1 < pages)
      return unproven({ kind: 'empty-page', page: this.#page + 1, pages });
    return complete('nothing-behind');
  }

  /** Some services give their last page again behind the end, and some their first one for numbers that they ignore. */
  #afterKnown(answer: PageAnswer): Step {
    const { facts, hash } = answer;
    if (this.#mayBeFirst) return this.#askNext(answer);
    const isSame = hash === this.#before?.hash && facts.count === this.#before.facts.count;
    const hasMore = answer.hints.hasMore === true;
    if (isSame && this.#isHonoured && facts.count < this.#longest && !hasMore)
      return complete('nothing-behind');
    if (this.#first !== undefined && !this.#isHonoured && hash === this.#first.hash)
      return this.#ignored(answer);
    this.#idle += 1;
    if (isSame || this.#idle > mostIdlePages) return unproven({ kind: 'nothing-new' });
    this.#before = answer;
    return this.#askNext(answer);
  }

  #ignored(answer: PageAnswer): Step {
    return this.#count.ignored?.(this.#first ?? answer) ?? unproven({ kind: 'nothing-new' });
  }

  #afterRejection({ error }: Rejection): Step {
    // The list may have become shorter since an earlier run: what is left of it is read from its start.
    if (this.#first === undefined) return { kind: 'reread', pager: this.again(), isRestart: false };
    const isShort = (this.#before?.facts.count ?? 0) < this.#longest;
    const isCounted = this.#total !== undefined && this.#total === this.#met && !this.#isTotalWrong;
    const { page, pages } = this.#first.hints;
    const isNumbered = this.#isHonoured || page !== undefined || pages !== undefined;
    const isEndOfList = isNumbered && error.status === 404 && !isDepthLimit(error);
    if (isCounted || isEndOfList || (this.#isHonoured && isShort)) return complete('nothing-behind');
    const other =
      !this.#isHonoured && rejectsPosition(error.status) ? this.#count.ignored?.(this.#first) : undefined;
    if (other !== undefined) return other;
    return unproven({ kind: 'rejected-behind', of: error.problem ?? { kind: 'rejected' } });
  }
}

/** Services that serve only so many pages reject deeper ones, whatever the list still holds. */
const isDepthLimit = ({ problem }: Rejection['error']): boolean =>
  typeof problem?.['reason'] === 'string' && depthLimit.test(problem['reason']);

const depthLimit = /window|too (deep|far|large)|max(imum)? (page|offset|depth|result)|pagination limit/i;
