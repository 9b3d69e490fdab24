import { answerError } from '../problems.ts';
import { endOf, ask, complete, mostIdlePages, turn, unproven } from './pager.ts';
import type { Answer, Movement, PageAnswer, Pager, PageRequest, Step } from './pager.ts';
import { linksIn, type NextHint, type PageFacts } from './hints.ts';
import { cursorParamOf } from './names.ts';
import { fixedPages } from './numbered.ts';
import { isCounting, positionKey, start, type Position } from './position.ts';
import type { RequestParams } from './request-params.ts';

/** Empty pages in a row that name another next one, before that is taken for a list without an end. */
const mostEmptyPages = 1000;
const mostEmptyNumbers = 3;

/** Follows to the letter what the service names as the next page: a URL, a cursor or a number. */
export class NamedPager implements Pager {
  readonly #params: RequestParams;
  readonly #from: Position;
  readonly #asked = new Set<string>();
  #isCounting: boolean;
  #records = 0;
  #met = 0;
  #pages = 0;
  #isFromZero = false;
  #isAskedAgain = false;
  #empty = 0;
  #idle = 0;
  #hash: number | undefined;

  constructor(params: RequestParams, from: Position = start) {
    this.#params = params;
    this.#from = from;
    this.#isCounting = isCounting(from);
  }

  get movement(): Movement {
    return this.#isCounting ? 'counted' : 'anchored';
  }

  first(): PageRequest {
    return ask(this.#from, this.#from.size);
  }

  again(): Pager {
    return new NamedPager(this.#params);
  }

  next(answer: Answer): Step {
    if (answer.kind === 'rejected') {
      // A numbered list that has become shorter ends before a page that was named.
      const isEnd = answer.error.status === 404 && this.#isCounting && this.#pages > 0;
      if (isEnd) return complete('nothing-behind');
      return unproven({ kind: 'rejected-behind', of: answer.error.problem ?? { kind: 'rejected' } });
    }
    if (answer.facts.count === 0) return this.#afterEmpty(answer);
    this.#empty = 0;
    this.#isAskedAgain = false;
    this.#pages += 1;
    this.#records += answer.facts.count;
    if (this.#pages === 1) this.#isFromZero = answer.hints.page === 0;
    const following = this.#following(answer);
    if (following === undefined) return this.#end(answer);
    const isSame = answer.hash === this.#hash;
    this.#hash = answer.hash;
    this.#idle = answer.fresh === 0 ? this.#idle + 1 : 0;
    this.#met += answer.fresh;
    // A scroll, among others, is no parameter of this address, and gives the first page again.
    if (answer.fresh === 0 && (isSame || !isCounting(following) || this.#idle > mostIdlePages))
      return answer.hints.total === this.#met ? complete('total') : unproven({ kind: 'nothing-new' });
    return this.#follow(following, answer);
  }

  #follow(position: Position, { request: { limit } }: PageAnswer): Step {
    const key = positionKey(position);
    if (this.#asked.has(key)) throw answerError({ kind: 'position-read-before' });
    this.#asked.add(key);
    this.#isCounting ||= isCounting(position);
    return ask(position, limit);
  }

  #end(answer: PageAnswer): Step {
    const { hints, facts } = answer;
    const { page, pages } = hints;
    const first = this.#isFromZero ? 0 : 1;
    // The numbers of its answers say that pages follow, which are not named any more.
    if (
      hints.next === undefined &&
      page === first + this.#pages - 1 &&
      pages !== undefined &&
      page < pages - 1 + first
    ) {
      const pager = fixedPages({ param: this.#params.page, base: first });
      return turn(pager, pager.goOn(answer, this.#pages));
    }
    if (hints.hasMore === true) return unproven({ kind: 'more-without-position' });
    if (facts.count === 0 && this.#pages === 0) return complete('empty');
    // Of a walk that is resumed, another answer, of another day, has named the page.
    const isNamedElsewhere = this.#from.style !== 'start' || this.#params.nextSeen;
    const isNextMissing = this.#pages === 1 && isNamedElsewhere && hints.next === undefined;
    return isNextMissing && hints.hasMore === undefined
      ? { ...complete('explicit-end'), isNextMissing }
      : complete('explicit-end');
  }

  /** An empty page that was named is asked for once more: the service may have been about to fill it. */
  #afterEmpty(answer: PageAnswer): Step {
    const { request, hints, facts } = answer;
    if (request.position.style === 'start' && !hints.next && hints.hasMore !== true) return complete('empty');
    const following = this.#following(answer);
    const isSelf = following !== undefined && positionKey(following) === positionKey(request.position);
    const isOpaque = following !== undefined && !isSelf && !isCounting(following);
    if (!isOpaque && !this.#isAskedAgain) {
      this.#isAskedAgain = true;
      return request;
    }
    this.#isAskedAgain = false;
    this.#empty += 1;
    // An answer without any list is no empty page, unless it says that it has no content.
    if (facts.envelope.isWithoutList === true && facts.status !== 204)
      return unproven({ kind: 'more-without-leads' });
    if (following === undefined)
      return hints.hasMore === true ? unproven({ kind: 'more-without-leads' }) : complete('nothing-behind');
    if (isSelf && following.style === 'cursor' && !isCounting(following) && hints.hasMore !== true)
      return complete('nothing-behind');
    if (isSelf || this.#asked.has(positionKey(following))) return unproven({ kind: 'more-without-leads' });
    if (isCounting(following) && this.#empty >= mostEmptyNumbers)
      return hints.hasMore === true ? unproven({ kind: 'more-without-leads' }) : complete('nothing-behind');
    if (this.#empty >= mostEmptyPages) return unproven({ kind: 'endless-empty-pages', pages: this.#empty });
    return this.#follow(following, answer);
  }

  #following(answer: PageAnswer): Position | undefined {
    return namedPosition(this.#params, answer, { records: this.#records, pages: this.#pages });
  }
}

/** What was read up to an answer, with it. */
export interface ReadSoFar {
  readonly records: number;
  readonly pages: number;
}

/**
 * Where the next page begins that an answer names: a `Link` header first, then what the body names. Throws a `DataError` for
 * a URL of another origin.
 */
export function namedPosition(
  params: RequestParams,
  answer: PageAnswer,
  read: ReadSoFar,
): Position | undefined {
  const { hints, facts } = answer;
  if (params.pagination === 'auto' || params.pagination === 'link') {
    const target = params.next === 'auto' ? linksIn(facts.headers['link'])?.get('next') : undefined;
    if (target !== undefined) return urlPosition(target, facts);
  }
  if (endOf(answer, -1) === 'explicit-end' || !hints.next) return undefined;
  return positionOfHint(params, hints.next, { facts, hints, read });
}

interface Read extends Pick<PageAnswer, 'facts' | 'hints'> {
  readonly read: ReadSoFar;
}

function positionOfHint(
  params: RequestParams,
  { name, field, value, members }: NextHint,
  page: Read,
): Position {
  const { facts } = page;
  if (members !== undefined && params.cursor === undefined && cursorParamOf[field] === undefined) {
    const url = new URL(facts.url);
    for (const [param, part] of Object.entries(members)) url.searchParams.set(param, String(part));
    return { style: 'url', url: url.href };
  }
  const text = String(value);
  const isToken = /cursor|token/.test(name);
  if (/^https?:\/\//i.test(text) || (!isToken && /^[/?]/.test(text))) return urlPosition(text, facts);
  if (/^\d{1,15}$/.test(text) && !isToken && params.pagination !== 'cursor') {
    const kind = kindOfNumber(params, name, Number(text), page);
    if (kind === 'page') return { style: 'page', param: params.page, page: Number(text), isNamed: true };
    if (kind === 'offset') {
      const param = params.offset ?? offsetName(name, field) ?? page.hints.offsetField ?? 'offset';
      return { style: 'offset', param, offset: Number(text), isNamed: true };
    }
  }
  return cursorPosition(params, { field, cursor: text }, page);
}

const offsetName = (name: string, field: string): string | undefined =>
  name === 'nextstart' ? 'start' : field === 'skip' || field === 'start' ? field : undefined;

/** The field's name says what a number counts; a bare `next` is what fits: the records so far, or the number after this one. */
function kindOfNumber(
  params: RequestParams,
  name: string,
  value: number,
  { hints, read }: Read,
): 'page' | 'offset' | undefined {
  if (name === 'nextoffset' || name === 'nextstart') return 'offset';
  if (name === 'nextpage') return 'page';
  if (name !== 'next') return undefined;
  if (params.pagination === 'page' || params.pagination === 'offset') return params.pagination;
  const mayBePage = value === (hints.page ?? params.firstPage + read.pages - 1) + 1;
  const mayBeOffset = value === (hints.offset ?? 0) + read.records || value === read.records;
  if (hints.page !== undefined || (params.isPageSet && params.offset === undefined)) return 'page';
  if (hints.offset !== undefined || (params.offset !== undefined && !params.isPageSet)) return 'offset';
  if (mayBePage && mayBeOffset) throw answerError({ kind: 'next-number-unclear', value });
  if (mayBePage) return 'page';
  return mayBeOffset ? 'offset' : undefined;
}

/** A cursor that is a plain count of records or of pages means another place when the list moves. */
function cursorPosition(
  params: RequestParams,
  { field, cursor }: { readonly field: string; readonly cursor: string },
  { facts, read }: Read,
): Position {
  const param = params.cursor ?? cursorParamOf[field] ?? 'cursor';
  const value = /^\d{1,15}$/.test(cursor) && cursor !== facts.lastId ? Number(cursor) : undefined;
  const counts = value !== undefined && (value === read.records || value === read.pages + 1);
  return { style: 'cursor', param, cursor, ...(counts && { counts }) };
}

/** The key goes to the service's own origin only: scheme, host and port. */
function urlPosition(target: string, { url: from }: PageFacts): Position {
  const url = URL.canParse(target, from.href) ? new URL(target, from) : undefined;
  if (url?.origin !== from.origin)
    throw answerError({ kind: 'next-page-elsewhere', there: url?.origin, origin: from.origin });
  return { style: 'url', url: url.href };
}
