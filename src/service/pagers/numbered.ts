import type { ScannedRecord } from '../../json/scanned-record.ts';
import {
  ask,
  complete,
  endOf,
  isSame,
  moreWithoutLeads,
  mostIdlePages,
  noList,
  nothingNew,
  rejectedBehind,
  rejectsPosition,
  unproven,
} from './pager.ts';
import type { PageAnswer, Pager, PageRequest, PagerAnswer, Rejection, PagerStep } from './pager.ts';
import { start, type NumberPosition } from './position.ts';

/**
 * How pages are numbered. `base`: the number of the first page, or the first offset. `isBaseUnseen`: no answer has shown whether pages
 * count from this number or from the one before. `whenIgnored`: gives the step after the first page where the service ignores numbers.
 */
export interface Numbering {
  readonly style: NumberPosition['style'];
  readonly param: string;
  readonly base: number;
  readonly isBaseUnseen?: boolean;
  readonly whenIgnored?: (first: PageAnswer) => PagerStep;
}

export const positionAt = ({ style, param, base }: Numbering, count: number): NumberPosition => ({
  ...{ style, param, base },
  number: base + count,
});

/**
 * Reads pages that follow each other by number, each as long as the service makes them. Where the first number is not known, they are
 * read as if they counted from the lower one: then no page is passed over, and the first one may come twice.
 * - `#length`: the distance of offsets; some services refuse offsets that are no multiples of the page size, or round them down
 * - `#overlapping`: makes the pager for a list whose total changes, where pages can overlap instead
 * - `#page`: the page that was requested last, counted from 0; `#pagesRead`: how many pages of the list were read
 * - `#isHonoured`: a number brought another page than the first one
 * - `#before`: the last page that was not empty; `#longest`: the length of the longest one
 * - `#met`: fresh records of all pages; `#isTotalWrong`: the total was smaller, so that it counts something else
 * - `#idlePages`: pages in a row without a fresh record
 */
export class NumberedPager implements Pager {
  readonly movement = 'counted';
  readonly #numbering: Numbering;
  readonly #length: number;
  readonly #overlapping: (() => Pager) | undefined;
  #first: PageAnswer | undefined;
  #page = 0;
  #pagesRead = 0;
  #limit: number | undefined;
  #isHonoured = false;
  #isAskedTwice = false;
  #longest = 0;
  #before: Pick<PageAnswer, 'hash' | 'facts'> | undefined;
  #met = 0;
  #total: number | undefined;
  #isTotalWrong = false;
  #idlePages = 0;

  constructor(numbering: Numbering, length: number, overlapping?: () => Pager) {
    this.#numbering = numbering;
    this.#length = length;
    this.#overlapping = overlapping;
  }

  resumeAt(page: number, limit: number | undefined): this {
    this.#page = page;
    this.#pagesRead = page;
    this.#limit = limit;
    return this;
  }

  first(): PageRequest {
    return this.#page === 0 ? ask(start, undefined) : this.#request(this.#limit);
  }

  restarted(): Pager {
    const pager = new NumberedPager(this.#numbering, this.#length, this.#overlapping);
    pager.#isTotalWrong = this.#isTotalWrong;
    return pager;
  }

  /** Continues after so many pages that another pager has read; `last` is the last one of them. */
  continueAfter(pages: number, last: PageAnswer): PagerStep {
    this.#record(last);
    this.#page = pages - 1;
    this.#pagesRead = pages;
    return this.#askNext(last);
  }

  next(answer: PagerAnswer): PagerStep {
    if (answer.kind === 'rejected') return this.#afterRejection(answer);
    const { facts, hints, fresh, leadingFresh, head } = answer;
    if (facts.count === 0) return this.#afterEmpty(answer);
    if (fresh === 0) return this.#afterKnown(answer);
    this.#idlePages = 0;
    // Leads that have arrived may stand before the first page. It comes for a number that is ignored, unless the number may be its own.
    const isFirstAgain = fresh === leadingFresh && isSame(head[fresh], this.#first?.head[0]);
    if (isFirstAgain && !this.#isHonoured && !this.#mayBeFirst) return this.#ignored(answer);
    if (this.#first !== undefined && !isFirstAgain) this.#isHonoured = true;
    const longestBefore = this.#longest;
    const isTotalChanged = this.#total !== undefined && hints.total !== this.#total && !this.#isTotalWrong;
    this.#record(answer);
    this.#isTotalWrong ||= hints.total !== undefined && hints.total < this.#met;
    const evidence = endOf(answer, this.#isTotalWrong ? -1 : this.#met, longestBefore);
    if (evidence !== undefined) return complete(evidence);
    if (isTotalChanged && this.#overlapping !== undefined)
      return { kind: 'reread', pager: this.#overlapping() };
    const isLast = hints.pages !== undefined && this.#pagesRead >= hints.pages;
    return isLast && facts.count < this.#longest ? complete('nothing-behind') : this.#askNext(answer);
  }

  accepts(_: PageRequest, record: ScannedRecord): boolean {
    return !this.#mayBeFirst || record.hasId || !isSame(record, this.#first?.head[0]);
  }

  get #mayBeFirst(): boolean {
    return this.#page === 1 && this.#numbering.isBaseUnseen === true;
  }

  ahead({ limit }: PageRequest, many: number): PageRequest[] {
    const pages = this.#total === undefined ? Infinity : Math.ceil(this.#total / Math.max(1, this.#longest));
    const numbers = Array.from({ length: many }, (_, i) => this.#page + 1 + i);
    return numbers.filter((page) => page < pages).map((page) => ask(this.#position(page), limit));
  }

  #record(answer: PageAnswer): void {
    this.#first ??= answer;
    this.#before = answer;
    this.#pagesRead += 1;
    this.#longest = Math.max(this.#longest, answer.facts.count);
    this.#met += answer.fresh;
    this.#total = answer.hints.total;
  }

  #position(page: number): NumberPosition {
    const { isBaseUnseen, base, style } = this.#numbering;
    const length = this.#length;
    if (style === 'offset') return { ...positionAt(this.#numbering, page * length), length };
    return positionAt({ ...this.#numbering, base: isBaseUnseen === true ? base - 1 : base }, page);
  }

  #request(limit: number | undefined): PageRequest {
    const request = ask(this.#position(this.#page), limit);
    return this.#mayBeFirst ? { ...request, isProbe: true } : request;
  }

  #askNext({ request }: PageAnswer): PageRequest {
    this.#page += 1;
    this.#isAskedTwice = false;
    return this.#request(request.limit);
  }

  #afterEmpty({ hints, request, facts }: PageAnswer): PagerStep {
    if (this.#first === undefined && request.position.style === 'start') return complete('empty');
    if (hints.hasMore === true) {
      if (this.#isAskedTwice) return moreWithoutLeads;
      this.#isAskedTwice = true;
      return request;
    }
    // A list that ends still comes in its envelope: a bare `null` instead comes from a service that fails.
    const isInEnvelope = (this.#first?.facts.envelope.path.length ?? 0) > 0;
    if (facts.envelope.root === null && facts.status === 200 && isInEnvelope) return noList;
    const { pages } = hints;
    const isNumberKnown = this.#numbering.isBaseUnseen !== true && request.position.style === 'page';
    if (pages !== undefined && isNumberKnown && this.#page + 1 < pages)
      return unproven(`page ${this.#page + 1} of ${pages} is empty`);
    return complete('nothing-behind');
  }

  /** Some services repeat their last page after the end, and some their first one for numbers that they ignore. */
  #afterKnown(answer: PageAnswer): PagerStep {
    const { facts, hash, hints } = answer;
    if (this.#mayBeFirst) return this.#askNext(answer);
    const isRepeated = hash === this.#before?.hash && facts.count === this.#before.facts.count;
    if (isRepeated && this.#isHonoured && facts.count < this.#longest && hints.hasMore !== true)
      return complete('nothing-behind');
    if (this.#first !== undefined && !this.#isHonoured && hash === this.#first.hash)
      return this.#ignored(answer);
    this.#idlePages += 1;
    if (isRepeated || this.#idlePages > mostIdlePages) return nothingNew;
    this.#before = answer;
    return this.#askNext(answer);
  }

  #ignored(answer: PageAnswer): PagerStep {
    return this.#numbering.whenIgnored?.(this.#first ?? answer) ?? nothingNew;
  }

  #afterRejection(answer: Rejection): PagerStep {
    const { error } = answer;
    // The list may have become shorter since an earlier run: what is left of it is read from its start.
    if (this.#first === undefined) return { kind: 'reread', pager: this.restarted() };
    const isShort = (this.#before?.facts.count ?? 0) < this.#longest;
    const isCounted = this.#total !== undefined && this.#total === this.#met && !this.#isTotalWrong;
    const { page, pages } = this.#first.hints;
    const isNumbered = this.#isHonoured || page !== undefined || pages !== undefined;
    const isEndOfList = isNumbered && error.status === 404 && !depthLimit.test(error.message);
    if (isCounted || isEndOfList || (this.#isHonoured && isShort)) return complete('nothing-behind');
    const { whenIgnored } = this.#numbering;
    if (!this.#isHonoured && rejectsPosition(error.status) && whenIgnored !== undefined)
      return whenIgnored(this.#first);
    return rejectedBehind(answer);
  }
}

/** Services such as Elasticsearch refuse pages beyond a depth, although the list goes on. */
const depthLimit = /window|too (deep|far|large)|max(imum)? (page|offset|depth|result)|pagination limit/i;
