import type { ScannedRecord } from '../../json/scanner.ts';
import { endOf, rejectsPosition, ask, complete, isSame, mostIdlePages, turn, unproven } from './pager.ts';
import type { Answer, PageAnswer, Pager, PageRequest, Rejection, Step } from './pager.ts';
import type { PaginationHints } from './hints.ts';
import { OverlapPager, type Covered, type Place, type Ruler } from './overlap.ts';
import { start, type Position } from './position.ts';

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

/** Below that, a second reading costs as much as overlapping pages. */
const fewestOnPages = 30;

/** A parameter that takes a page number, and the number of the first page. */
export interface PageParam {
  readonly param: string;
  readonly base: number;
  /** Nothing has shown whether pages count from this number or from the one before. */
  readonly isBaseUnseen?: boolean;
  readonly ignored?: ((first: PageAnswer) => Step) | undefined;
}

const pagePosition = ({ param, base }: PageParam, page: number): Extract<Position, { style: 'page' }> => ({
  style: 'page',
  param,
  page: page + base,
  base,
});

/**
 * Page by page, each with the size that the first one had. Where it is not known from which number pages count, they are read as
 * if they did from the lower one: then no page is passed over, and the first one may come twice.
 */
export function fixedPages(of: PageParam, overlapping?: () => Pager): NumberedPager {
  const counted = of.isBaseUnseen === true ? { ...of, base: of.base - 1 } : of;
  return new NumberedPager({
    position: (nth) => pagePosition(counted, nth),
    mayRepeatFirst: of.isBaseUnseen,
    overlapping,
    ignored: of.ignored,
  });
}

/** The same where an answer counts the leads: a count that changes is a reason to let pages overlap. */
const countedPages = (of: PageParam): NumberedPager => fixedPages(of, () => overlappingPages(of));

/** Pages whose size becomes smaller from one to the next, so that each begins within what was read. */
function overlappingPages(of: PageParam): OverlapPager {
  return new OverlapPager(new PageRuler(of), () => overlappingPages(of));
}

/** Whether pages can overlap that are as long as the first one: by the ids of its records. */
const canOverlap = ({ facts, tail }: PageAnswer, least: number): boolean =>
  facts.count >= least && tail.at(-1)?.hasId === true;

/**
 * The way through numbered pages that the first one allows: as they are where a total counts them or where they are short,
 * overlapping otherwise.
 */
export function pagesBehind(of: PageParam, first: PageAnswer, overlaps: boolean): Pager {
  if (!overlaps || !canOverlap(first, fewestOnPages)) return fixedPages(of);
  const { total } = first.hints;
  return total !== undefined && total >= first.facts.count ? countedPages(of) : overlappingPages(of);
}

class PageRuler implements Ruler {
  readonly #of: PageParam;

  constructor(of: PageParam) {
    this.#of = of;
  }

  windowAfter({ places, largest, isProven }: Covered, overlap: number): Place {
    // No service that ignores the size gives such records on its third page.
    const { page, limit, begin } = windowAfter(places, largest, overlap, isProven ? 0 : 2);
    return { position: pagePosition(this.#of, page), limit, begin };
  }

  otherwise(first: PageAnswer): Step {
    const pager = fixedPages(this.#of);
    return turn(pager, pager.goOn(first, 1));
  }
}

/** A page number of a walk that is resumed. */
export function pagesFrom(
  position: Extract<Position, { readonly style: 'page' }>,
  of: Omit<PageParam, 'param'>,
): Pager {
  const param = { ...of, param: position.param };
  // Whether pages were found to count from 0 is not stored.
  const isBaseUnseen = of.base < 1;
  if (position.window === undefined)
    return fixedPages(isBaseUnseen ? { ...param, base: of.base + 1, isBaseUnseen } : param).resumeAt(
      position.page - of.base,
      position.size,
    );
  return overlappingPages(param).resumeAt(position, position.size);
}

/** A page whose begin lies within what was read: numbers from 0, places of the list before it. */
export interface Window {
  readonly page: number;
  readonly limit: number;
  readonly begin: number;
}

/**
 * The page that begins at least `overlap` records before the end of what was read, and ends furthest after it: of all
 * sizes up to `largest`. Page numbers count from 0; `leastPage` is the smallest one that may be used.
 */
export function windowAfter(covered: number, largest: number, overlap = 1, leastPage = 0): Window {
  const latest = Math.max(0, covered - overlap);
  let best: Window = { page: 0, limit: largest, begin: 0 };
  let end = 0;
  for (let limit = largest; limit > 0; limit -= 1) {
    const page = Math.floor(latest / limit);
    if (page < leastPage || (page + 1) * limit <= end) continue;
    best = { page, limit, begin: page * limit };
    end = best.begin + limit;
  }
  return best;
}

/** On shorter pages an overlap would take most of the page. */
const fewestBehindOffset = 2;

/** A parameter that takes a number of records to skip. */
export interface OffsetParam {
  readonly param: string;
  /** The offset of the first page. */
  readonly base: number;
  readonly ignored?: ((first: PageAnswer) => Step) | undefined;
}

const offsetPosition = (
  { param, base }: OffsetParam,
  begin: number,
): Extract<Position, { readonly style: 'offset' }> => ({
  style: 'offset',
  param,
  offset: base + begin,
  base,
});

/** Offsets that are multiples of the first page's length: some services refuse others, or round them down. */
const alignedOffsets = (of: OffsetParam, length: number): NumberedPager =>
  new NumberedPager({
    position: (nth) => ({ ...offsetPosition(of, nth * length), length }),
    ignored: of.ignored,
  });

/** Offsets that overlap by one record. */
function overlappingOffsets(of: OffsetParam): OverlapPager {
  return new OverlapPager(new OffsetRuler(of), () => overlappingOffsets(of));
}

export const offsetsBehind = (of: OffsetParam, first: PageAnswer, overlaps: boolean): Pager =>
  overlaps && canOverlap(first, fewestBehindOffset)
    ? overlappingOffsets(of)
    : alignedOffsets(of, first.facts.count);

class OffsetRuler implements Ruler {
  readonly #of: OffsetParam;

  constructor(of: OffsetParam) {
    this.#of = of;
  }

  windowAfter({ places }: Covered, overlap: number): Place {
    const begin = Math.max(0, places - overlap);
    return { position: offsetPosition(this.#of, begin), limit: undefined, begin };
  }

  otherwise(first: PageAnswer): Step {
    const pager = alignedOffsets(this.#of, first.facts.count);
    return turn(pager, pager.goOn(first, 1));
  }
}

/** An offset of a walk that is resumed; `length` is that of its pages. */
export function offsetsFrom(
  position: Extract<Position, { readonly style: 'offset' }>,
  of: Omit<OffsetParam, 'param'>,
): Pager {
  const param = { ...of, param: position.param };
  const length = position.length ?? 1;
  if (position.window === undefined)
    return alignedOffsets(param, length).resumeAt((position.offset - of.base) / length, position.size);
  return overlappingOffsets(param).resumeAt(position, position.size);
}
