import { BeforePager, type BeforeNames } from './before.ts';
import { endOf, ask, complete, turn, unproven } from './pager.ts';
import type { Answer, PageAnswer, Pager, PageRequest, Step, ListFacts } from './pager.ts';
import { linksIn, isNamedNext, type Links } from './hints.ts';
import { NamedPager, namedPosition } from './named.ts';
import { untilNames } from './names.ts';
import { offsetsBehind, offsetsFrom, pagesBehind, pagesFrom } from './numbered.ts';
import { start, countInUrl, type Position } from './position.ts';
import type { RequestParams } from './request-params.ts';
import { SinglePager, type Way } from './single.ts';

/** What a setting says, or else what the first answer shows, decides how the list is read. */
class AutoPager implements Pager {
  readonly movement = 'anchored';
  readonly #params: RequestParams;
  readonly #single: ListFacts;

  constructor(params: RequestParams, single: ListFacts) {
    this.#params = params;
    this.#single = single;
  }

  first(): PageRequest {
    return ask(start, undefined);
  }

  again(): Pager {
    return new AutoPager(this.#params, this.#single);
  }

  next(answer: Answer): Step {
    if (answer.kind === 'rejected')
      return unproven({ kind: 'rejected-behind', of: answer.error.problem ?? { kind: 'rejected' } });
    const choice = choosePager(this.#params, answer, this.#single);
    return 'kind' in choice ? choice : turn(choice, choice.next(answer));
  }
}

/** A pager that is given the first answer, or the end that this one is. */
function choosePager(
  params: RequestParams,
  first: PageAnswer,
  facts: ListFacts,
): Pager | Exclude<Step, PageRequest> {
  const { hints } = first;
  const { pagination } = params;
  if (pagination === 'none') return affirmed(first);
  // A list of one page may be a service's answer to each number.
  const ignored = (...ways: readonly Way[]) => ({
    ignored(page: PageAnswer): Step {
      const single = new SinglePager(params, facts, ways);
      return turn(single, single.next(page));
    },
  });
  if (pagination === 'page')
    return pagesBehind({ ...pageParam(params, first), ...ignored('page') }, first, facts.overlaps);
  if (pagination === 'offset')
    return offsetsBehind({ ...offsetParam(params, first), ...ignored('offset') }, first, facts.overlaps);
  if (pagination === 'before') return new BeforePager(beforeNames(params), facts);
  // What a person set comes first: an answer may name a next page that cannot be followed.
  const following = namedPosition(params, first, { records: first.facts.count, pages: 1 });
  if (pagination === 'link' || pagination === 'cursor') return named(params, first, facts, following);
  const isEmpty = first.facts.count === 0;
  if (endOf(first, -1) === 'explicit-end' || endsByLinks(params, first))
    return complete(isEmpty ? 'empty' : 'explicit-end');
  if (following !== undefined) return new NamedPager(params);
  const isMore = hints.hasMore === true || countsMore(first, facts.isFiltered);
  if (hints.next === null && !isMore) return complete(isEmpty ? 'empty' : 'explicit-end');
  if (params.nextSeen && hints.next === undefined && !isMore)
    return isEmpty ? complete('empty') : { ...complete('explicit-end'), isNextMissing: true };
  if (isEmpty) return hints.hasMore === true ? new NamedPager(params) : emptyList(first, facts);
  if (hints.page !== undefined || hints.pages !== undefined)
    return pagesBehind(
      { ...pageParam(params, first), ...ignored('offset', 'older', 'behind') },
      first,
      facts.overlaps,
    );
  if (hints.offset !== undefined)
    return offsetsBehind(
      { ...offsetParam(params, first), ...ignored('page', 'older', 'behind') },
      first,
      facts.overlaps,
    );
  return new SinglePager(params, facts);
}

/** Of a setting that says that the next page is named, an answer that names none is an end only where that was learnt. */
function named(
  params: RequestParams,
  first: PageAnswer,
  facts: ListFacts,
  following: Position | undefined,
): Pager {
  const { hints } = first;
  const isEnd = hints.next === null || endOf(first, -1) !== undefined || params.nextSeen;
  const isSilent = following === undefined && !isEnd && first.facts.count > 0;
  return isSilent ? new SinglePager(params, facts, []) : new NamedPager(params);
}

function emptyList(
  { facts: { envelope }, hints }: PageAnswer,
  { isKnownList }: ListFacts,
): Exclude<Step, PageRequest> {
  const isWithoutList = envelope.isWithoutList === true && !isKnownList && hints.total === undefined;
  return isWithoutList ? unproven({ kind: 'no-list' }) : complete('empty');
}

/** A `Link` header with other pages and no next one is an end, unless the answer says otherwise. */
function endsByLinks(params: RequestParams, first: PageAnswer): boolean {
  const links = params.next === 'auto' ? linksIn(first.facts.headers['link']) : undefined;
  if (links === undefined || links.has('next')) return false;
  const isPlaced = ['first', 'prev', 'previous', 'last'].some((name) => links.has(name));
  return isPlaced && !saysMoreThanLinks(params, first, links);
}

/** `api.pagination none` says that one page is all, unless the answer itself says otherwise. */
function affirmed({
  facts: { count, headers },
  hints: { hasMore, total, next },
}: PageAnswer): Exclude<Step, PageRequest> {
  const isNamed = linksIn(headers['link'])?.has('next') === true || /^next/i.test(next?.field ?? '');
  if (hasMore === true || isNamed) return unproven({ kind: 'more-than-one-page' });
  if (total !== undefined && total > count) return unproven({ kind: 'total-beyond-one-page', total, count });
  return complete('affirmed');
}

const pageParam = ({ page, firstPage, url }: RequestParams, { hints }: PageAnswer) => ({
  param: page,
  base: hints.page ?? firstPage,
  isBaseUnseen: hints.page === undefined && !url.searchParams.has(page),
});

const offsetParam = ({ offset }: RequestParams, { hints }: PageAnswer) => ({
  param: offset ?? hints.offsetField ?? 'offset',
  base: hints.offset ?? 0,
});

/** The names of the dialect: of an id, unless it is one of a time. */
function beforeNames({ before = 'before', until }: RequestParams): BeforeNames {
  const isTime = before === until || untilNames.includes(before);
  return isTime ? { ids: [], times: [before] } : { ids: [before], times: [] };
}

/** The pager of a walk that is resumed. */
export function pagerFrom(params: RequestParams, single: ListFacts, from: Position): Pager {
  switch (from.style) {
    case 'start':
      return new AutoPager(params, single);
    case 'url':
    case 'cursor':
      return new NamedPager(params, from);
    case 'before':
      return new BeforePager(from, { from });
    case 'page':
      return from.isNamed === true
        ? new NamedPager(params, from)
        : pagesFrom(from, { base: from.base ?? params.firstPage });
    case 'offset':
      return from.isNamed === true
        ? new NamedPager(params, from)
        : offsetsFrom(from, { base: from.base ?? 0 });
  }
}

/** Whether the numbers of the first answer say that leads follow. */
function countsMore({ hints, facts: { count } }: PageAnswer, isFiltered: boolean): boolean {
  const { page, pages, offset, total } = hints;
  // Of pages that are counted from 0, the first is one page, too.
  if (pages !== undefined) return (page || 1) < pages;
  if (total === undefined || count === 0) return false;
  if (offset !== undefined) return offset + count < total;
  // Of an answer without a page number it is unknown whether its total counts what a filter leaves out.
  return (page !== undefined || !isFiltered) && count < total;
}

/** Whether the body, or the place of the last page, speaks against a `Link` header that names no next page. */
function saysMoreThanLinks(
  params: RequestParams,
  { hints, facts, request }: PageAnswer,
  links: Links,
): boolean {
  if (hints.hasMore === true || isNamedNext(hints.next)) return true;
  const urlOf = (name: string): URL | undefined => {
    const target = links.get(name);
    return target !== undefined && URL.canParse(target, facts.url.href)
      ? new URL(target, facts.url)
      : undefined;
  };
  const [first, last] = [urlOf('first'), urlOf('last')];
  if (last === undefined || hints.hasMore === false) return false;
  const number = countInUrl(last)?.number;
  if (number === undefined) {
    // What only the service understands says no more than that the first page is not the last one.
    const isFirst = request.position.style === 'start' && last.href !== facts.url.href;
    return isFirst && first !== undefined && first.href !== last.href;
  }
  const numbers = [facts.url, first].map((url) => url && countInUrl(url)?.number);
  const here = numbers.find((one) => one?.kind === number.kind)?.value;
  return number.value > (here ?? (number.kind === 'page' ? params.firstPage : 0));
}
