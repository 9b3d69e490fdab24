import { BeforePager } from './before.ts';
import { ask, complete, continueWith, moreCounted, noList, rejectedBehind, unproven } from './pager.ts';
import type { ListFacts, PageAnswer, Pager, PagerStep } from './pager.ts';
import { isNamedNext } from './hints.ts';
import { NamedPager, namedPosition } from './named.ts';
import { untilNames } from './names.ts';
import type { Numbering } from './numbered.ts';
import { pagesAfter, pagesFrom } from './overlap.ts';
import { start, countInUrl, type Position } from './position.ts';
import type { RequestParams } from './request-params.ts';
import { judgeWithoutProbes, SinglePager, tryOtherWays, type Way } from './single.ts';

export function pagerFrom(params: RequestParams, facts: ListFacts, from: Position): Pager {
  if (from.style === 'start') return autoPager(params, facts);
  if (from.style === 'before') return new BeforePager(from, true, from);
  if (from.style === 'url' || from.style === 'cursor' || from.isNamed === true)
    return new NamedPager(params, from);
  return pagesFrom(from, params.firstPage);
}

/** Requests the first page, and switches to the pager that its answer, or a person's setting, speaks for. */
const autoPager = (params: RequestParams, facts: ListFacts): Pager => ({
  movement: 'anchored',
  first: () => ask(start, undefined),
  restarted: () => autoPager(params, facts),
  next: (answer) =>
    answer.kind === 'rejected' ? rejectedBehind(answer) : stepAfterFirst(params, answer, facts),
});

function stepAfterFirst(params: RequestParams, first: PageAnswer, facts: ListFacts): PagerStep {
  const { hints } = first;
  const { pagination } = params;
  const isEmpty = first.facts.count === 0;
  const byNumbers = (style: Numbering['style'], ...ways: readonly Way[]): PagerStep => {
    // A service may give its one page for each number: then the other ways are tried.
    const numbering = {
      ...numberingOf(style, params, first),
      whenIgnored: tryOtherWays(params, facts, ways),
    };
    return continueWith(pagesAfter(numbering, first, facts.overlaps), first);
  };
  if (pagination === 'none') return affirmed(first);
  if (pagination === 'page' || pagination === 'offset') return byNumbers(pagination, pagination);
  if (pagination === 'before') return continueWith(beforePager(params, facts), first);
  // After the settings that ask for nothing named: this throws for a next page that cannot be followed.
  const following = namedPosition(params, first, first.facts.count, 1);
  const namedPager = new NamedPager(params);
  if (pagination === 'link' || pagination === 'cursor') {
    // An answer that names no next page is an end only where the service is known to name each one.
    const isEnd = hints.next === null || hints.hasMore === false || params.nextSeen;
    const isSilent = following === undefined && !isEnd && !isEmpty;
    return continueWith(isSilent ? new SinglePager(params, facts, []) : namedPager, first);
  }
  const end = complete(isEmpty ? 'empty' : 'explicit-end');
  if (hints.hasMore === false || endsByLinks(params, first)) return end;
  if (following !== undefined) return continueWith(namedPager, first);
  const isMore = hints.hasMore === true || countsMore(first, facts.isFiltered);
  if (hints.next === null && !isMore) return end;
  if (params.nextSeen && hints.next === undefined && !isMore)
    return isEmpty ? end : { ...end, isNextMissing: true };
  if (isEmpty) return hints.hasMore === true ? continueWith(namedPager, first) : emptyList(first, facts);
  if (hints.page !== undefined || hints.pages !== undefined)
    return byNumbers('page', 'offset', 'older', 'after');
  if (hints.offset !== undefined) return byNumbers('offset', 'page', 'older', 'after');
  return continueWith(new SinglePager(params, facts), first);
}

function emptyList({ facts: { envelope }, hints }: PageAnswer, { isKnownList }: ListFacts): PagerStep {
  const isWithoutList = envelope.isWithoutList === true && !isKnownList && hints.total === undefined;
  return isWithoutList ? noList : complete('empty');
}

/** `api.pagination none` says that one page is all, unless the answer itself says otherwise. */
function affirmed({ facts: { count }, hints: { hasMore, total = 0, next, links } }: PageAnswer): PagerStep {
  const isNamed = links?.has('next') === true || /^next/i.test(next?.field ?? '');
  if (hasMore === true || isNamed)
    return unproven('the service says that there is more, and api.pagination is none');
  return total > count
    ? moreCounted(`the service counts ${total} leads and gave ${count}, and api.pagination is none`)
    : complete('affirmed');
}

function numberingOf(
  style: Numbering['style'],
  { page, offset, firstPage, url }: RequestParams,
  { hints }: PageAnswer,
): Numbering {
  if (style === 'offset')
    return { style, param: offset ?? hints.offsetField ?? 'offset', base: hints.offset ?? 0 };
  const isBaseUnseen = hints.page === undefined && !url.searchParams.has(page);
  return { style, param: page, base: hints.page ?? firstPage, isBaseUnseen };
}

function beforePager(params: RequestParams, facts: ListFacts): Pager {
  const { before = 'before', until } = params;
  const isTime = before === until || untilNames.includes(before);
  const names = isTime ? { ids: [], times: [before] } : { ids: [before], times: [] };
  return new BeforePager(names, facts.overlaps, start, judgeWithoutProbes(facts));
}

function countsMore({ hints, facts: { count } }: PageAnswer, isFiltered: boolean): boolean {
  const { page, pages, offset, total } = hints;
  // The first of pages that are counted from 0 is one page, too.
  if (pages !== undefined) return (page || 1) < pages;
  if (total === undefined || count === 0) return false;
  if (offset !== undefined) return offset + count < total;
  // Without a page number it is unknown whether the total counts what a filter leaves out.
  return (page !== undefined || !isFiltered) && count < total;
}

/**
 * A `Link` header with other pages and no next one is an end, unless the body or the place of the last page speaks against it.
 */
function endsByLinks(params: RequestParams, { hints, facts }: PageAnswer): boolean {
  const links = params.next === 'auto' ? hints.links : undefined;
  const hasOtherPages = ['first', 'prev', 'previous', 'last'].some((name) => links?.has(name));
  const isMore = links?.has('next') === true || hints.hasMore === true || isNamedNext(hints.next);
  if (!hasOtherPages || isMore) return false;
  const urlOf = (name: string): URL | undefined => {
    const target = links?.get(name);
    const isUrl = target !== undefined && URL.canParse(target, facts.url.href);
    return isUrl ? new URL(target, facts.url) : undefined;
  };
  const [first, last] = [urlOf('first'), urlOf('last')];
  if (last === undefined) return true;
  const lastCount = countInUrl(last);
  // A token that only the service understands: it shows only whether the last page is another one than the first.
  if (lastCount === undefined)
    return last.href === facts.url.href || first === undefined || first.href === last.href;
  const counts = [facts.url, first].map((url) => url && countInUrl(url));
  const firstCount = counts.find((count) => count?.kind === lastCount.kind)?.value;
  return lastCount.value <= (firstCount ?? (lastCount.kind === 'page' ? params.firstPage : 0));
}
