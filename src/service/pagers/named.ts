import {
  ask,
  complete,
  hintToSetParameter,
  moreWithoutLeads,
  moreWithoutPosition,
  mostIdlePages,
  nothingNew,
  rejectedBehind,
  switchTo,
  unproven,
} from './pager.ts';
import type { Movement, PageAnswer, Pager, PageRequest, PagerAnswer, PagerStep } from './pager.ts';
import type { NextHint, PageFacts } from './hints.ts';
import { cursorParamOf } from './names.ts';
import { NumberedPager } from './numbered.ts';
import { isCounting, positionKey, start, wholeNumberIn, type Position } from './position.ts';
import type { RequestParams } from './request-params.ts';
import { DataError } from '../../errors.ts';

/** Empty pages in a row that name a next one. After so many cursors, the list has no end; after so many numbers, it has ended. */
const mostEmptyPages = 1000;
const mostEmptyNumbers = 3;

/**
 * Follows to the letter what the service names as the next page: a URL, a cursor or a number.
 * - `#requestedKeys`: the keys of the positions that were named and requested
 * - `#isCounting`: some position counts pages or records
 * - `#records`, `#pages`: read so far, the empty pages aside; `#met`: the fresh ones of these records
 * - `#isFromZero`: the first page calls itself page 0
 * - `#isEmptyRetried`: the empty page that came last was requested twice
 * - `#emptyPages`, `#idlePages`: pages in a row without any record, and without a fresh one; `#hashBefore`: that of the page before
 */
export class NamedPager implements Pager {
  readonly #params: RequestParams;
  readonly #from: Position;
  readonly #requestedKeys = new Set<string>();
  #isCounting: boolean;
  #records = 0;
  #met = 0;
  #pages = 0;
  #isFromZero = false;
  #isEmptyRetried = false;
  #emptyPages = 0;
  #idlePages = 0;
  #hashBefore: number | undefined;

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

  restarted(): Pager {
    return new NamedPager(this.#params);
  }

  next(answer: PagerAnswer): PagerStep {
    if (answer.kind === 'rejected') {
      const isEnd = answer.error.status === 404 && this.#isCounting && this.#pages > 0;
      return isEnd ? complete('nothing-behind') : rejectedBehind(answer);
    }
    if (answer.facts.count === 0) return this.#afterEmpty(answer);
    this.#emptyPages = 0;
    this.#isEmptyRetried = false;
    this.#pages += 1;
    this.#records += answer.facts.count;
    if (this.#pages === 1) this.#isFromZero = answer.hints.page === 0;
    const following = this.#following(answer);
    if (following === undefined) return this.#end(answer);
    const isRepeated = answer.hash === this.#hashBefore;
    this.#hashBefore = answer.hash;
    this.#idlePages = answer.fresh === 0 ? this.#idlePages + 1 : 0;
    this.#met += answer.fresh;
    // An address that does not take the cursor (of a scroll, say) gives the first page once more.
    const isStuck = isRepeated || !isCounting(following) || this.#idlePages > mostIdlePages;
    if (answer.fresh === 0 && isStuck)
      return answer.hints.total === this.#met ? complete('total') : nothingNew;
    return this.#follow(following, answer);
  }

  #follow(position: Position, { request: { limit } }: PageAnswer): PagerStep {
    const key = positionKey(position);
    if (this.#requestedKeys.has(key))
      throw new DataError('the service names a page as the next one that was read before', {
        kind: 'position-read-before',
        hint: hintToSetParameter,
      });
    this.#requestedKeys.add(key);
    this.#isCounting ||= isCounting(position);
    return ask(position, limit);
  }

  #end(answer: PageAnswer): PagerStep {
    const { next, hasMore, page, pages = 0 } = answer.hints;
    const base = this.#isFromZero ? 0 : 1;
    const isInOrder = page === base + this.#pages - 1;
    const isBeforeLast = page !== undefined && page < pages - 1 + base;
    // The service counts its pages, and does not name the next one, which there is.
    if (next === undefined && isInOrder && isBeforeLast) {
      const pager = new NumberedPager({ style: 'page', param: this.#params.page, base }, 1);
      return switchTo(pager, pager.continueAfter(this.#pages, answer));
    }
    if (hasMore === true) return moreWithoutPosition;
    const isNamedElsewhere = this.#from.style !== 'start' || this.#params.nextSeen;
    const isNextMissing = this.#pages === 1 && isNamedElsewhere && next === undefined;
    return isNextMissing && hasMore === undefined
      ? { ...complete('explicit-end'), isNextMissing }
      : complete('explicit-end');
  }

  /** An empty page that was named is asked for once more: the service may have been about to fill it. */
  #afterEmpty(answer: PageAnswer): PagerStep {
    const { request, hints, facts } = answer;
    const hasMore = hints.hasMore === true;
    if (request.position.style === 'start' && !hints.next && !hasMore) return complete('empty');
    const following = this.#following(answer);
    const key = following && positionKey(following);
    const isSelf = key === positionKey(request.position);
    const isOpaque = following !== undefined && !isCounting(following);
    if (!this.#isEmptyRetried && (isSelf || !isOpaque)) {
      this.#isEmptyRetried = true;
      return request;
    }
    this.#isEmptyRetried = false;
    this.#emptyPages += 1;
    const more = moreWithoutLeads;
    const end = hasMore ? more : complete('nothing-behind');
    if (facts.envelope.isWithoutList === true && facts.status !== 204) return more;
    if (following === undefined || (isSelf && isOpaque && following.style === 'cursor')) return end;
    if (isSelf || this.#requestedKeys.has(key ?? '')) return more;
    if (!isOpaque && this.#emptyPages >= mostEmptyNumbers) return end;
    if (this.#emptyPages >= mostEmptyPages)
      return unproven(`the service sends one empty page after another (${this.#emptyPages} in a row)`);
    return this.#follow(following, answer);
  }

  #following(answer: PageAnswer): Position | undefined {
    return namedPosition(this.#params, answer, this.#records, this.#pages);
  }
}

/**
 * The place of the next page that an answer names: in a `Link` header first, then in the body; undefined where it names none.
 * `records` and `pages` were read up to its end. Throws a `DataError` for a URL of another origin.
 */
export function namedPosition(
  params: RequestParams,
  answer: PageAnswer,
  records: number,
  pages: number,
): Position | undefined {
  const { hints, facts } = answer;
  if (params.pagination === 'auto' || params.pagination === 'link') {
    const target = params.next === 'auto' ? hints.links?.get('next') : undefined;
    if (target !== undefined) return urlPosition(target, facts);
  }
  if (hints.hasMore === false || !hints.next) return undefined;
  const { plain, field, value, members } = hints.next;
  if (members !== undefined && params.cursor === undefined && cursorParamOf[field] === undefined) {
    const url = new URL(facts.url);
    for (const [param, part] of Object.entries(members)) url.searchParams.set(param, String(part));
    return { style: 'url', url: url.href };
  }
  const text = String(value);
  const isToken = /cursor|token/.test(plain);
  if (/^https?:\/\//i.test(text) || (!isToken && /^[/?]/.test(text))) return urlPosition(text, facts);
  const number = wholeNumberIn(text);
  if (number !== undefined && !isToken && params.pagination !== 'cursor') {
    const kind = kindOfNumber(params, { plain, number, records, pages }, answer);
    const offset = params.offset ?? offsetName(hints.next) ?? hints.offsetField ?? 'offset';
    const param = kind === 'page' ? params.page : offset;
    if (kind !== undefined) return { style: kind, param, number, isNamed: true };
  }
  const param = params.cursor ?? cursorParamOf[field] ?? 'cursor';
  // A cursor that is a plain count of records or of pages means another place when the list moves.
  const counts = text !== facts.lastId && (number === records || number === pages + 1);
  return { style: 'cursor', param, cursor: text, ...(counts && { counts }) };
}

function offsetName({ plain, field }: NextHint): string | undefined {
  if (plain === 'nextstart') return 'start';
  return field === 'skip' || field === 'start' ? field : undefined;
}

/** A number that is named as the next: under which plain name, and after how many records and pages. */
interface NamedNumber {
  readonly plain: string;
  readonly number: number;
  readonly records: number;
  readonly pages: number;
}

/**
 * Whether a number that is named as the next one is that of a page or an offset: by the name of its field. A bare `next` is
 * what the answered request asked by, or else what fits: an offset is the number of records so far, a page the number after this one.
 * Undefined: it is a cursor.
 */
function kindOfNumber(
  params: RequestParams,
  { plain, number, records, pages }: NamedNumber,
  { hints: { page, offset }, request: { position } }: PageAnswer,
): 'page' | 'offset' | undefined {
  if (plain === 'nextoffset' || plain === 'nextstart') return 'offset';
  if (plain === 'nextpage') return 'page';
  if (plain !== 'next') return undefined;
  if (position.style === 'page' || position.style === 'offset') return position.style;
  const mayBePage = number === (page ?? params.firstPage + pages - 1) + 1;
  const mayBeOffset = number === (offset ?? 0) + records || number === records;
  if (page !== undefined || (params.isPageSet && params.offset === undefined)) return 'page';
  if (offset !== undefined || (params.offset !== undefined && !params.isPageSet)) return 'offset';
  if (mayBePage && mayBeOffset)
    throw new DataError(`the service names ${number} as the next, which may be a page or a number of leads`, {
      hint: (front) =>
        `name its parameter: ${front.set('api.params.page', 'page')} or ${front.set('api.params.offset', 'offset')}`,
    });
  if (mayBePage) return 'page';
  return mayBeOffset ? 'offset' : undefined;
}

/** The key goes to the service's own origin only: scheme, host and port. */
function urlPosition(target: string, { url: from }: PageFacts): Position {
  const url = URL.canParse(target, from.href) ? new URL(target, from) : undefined;
  if (url?.origin === from.origin) return { style: 'url', url: url.href };
  const place = url?.origin ?? 'no proper URL';
  throw new DataError(`the next page lies at ${place}, another origin than ${from.origin}`, {
    hint: (front) =>
      `the API key is not sent there; to go by page numbers: ${front.set('api.pagination', 'page')}; if another member names the next page: ${front.set('api.next', '/…')}`,
  });
}
