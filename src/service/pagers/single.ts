import type { ScannedRecord } from '../../json/scanner.ts';
import { oldestOfNewestFirst, readCreatedAt } from '../../lead/raw-lead.ts';
import { BeforePager, namesItself, positionBehind, type BeforeNames } from './before.ts';
import { linksIn } from './hints.ts';
import { idNamesBehind, numberParams } from './names.ts';
import { offsetsBehind, pagesBehind, type PageParam } from './numbered.ts';
import { ask, complete, fewest, isRound, isSame, isUsualCap, probe, turn, unproven } from './pager.ts';
import type { Answer, Complete, ListFacts, PageAnswer, Pager, PageRequest, Step, Unproven } from './pager.ts';
import { start, type Position } from './position.ts';
import type { RequestParams } from './request-params.ts';

/** The ways past a page that names no next one. */
export type Way = 'page' | 'offset' | 'older' | 'behind' | 'limit' | 'time';

/** Requests after a page that names no next one; where the service was seen to react, or says that there is more, a few more. */
const mostProbes = 6;
const mostProbesForMore = 10;
/** Leads on a page that cannot all arrive between two requests. */
const fewestUnmoved = 3;
/** Of a list that moved while it was probed. */
const mostRestarts = 2;

/** Some services fail over brackets. */
const plainLimitNames = numberParams.limit.usual.filter((name) => !name.includes('['));

/** Asks, is given the answers, and gives what follows; undefined: nothing leads further this way. */
type Search<Result = Step | undefined> = Generator<PageRequest, Result, Answer>;

/** One page that names no next one: tries the usual ways past it, and judges what nothing leads past. */
export class SinglePager implements Pager {
  readonly movement = 'anchored';
  readonly #params: RequestParams;
  readonly #facts: ListFacts;
  readonly #ways: Way[];
  #first: PageAnswer | undefined;
  #search: Search<Step> | undefined;
  #probes = 0;
  /** Another answer than the first page came for a parameter. */
  #hasReacted = false;
  /** The first page came again with another lead, or a lead of it stood elsewhere. */
  #hasMoved = false;
  #restarts = 0;
  readonly #shown = new ShownByLimit();

  constructor(params: RequestParams, facts: ListFacts, ways?: readonly Way[]) {
    this.#params = params;
    this.#facts = facts;
    this.#ways = ways === undefined ? waysOf(params) : [...ways];
  }

  first(): PageRequest {
    return ask(start, undefined);
  }

  again(): Pager {
    return new SinglePager(this.#params, this.#facts);
  }

  takes(): boolean {
    return this.#first === undefined;
  }

  next(answer: Answer): Step {
    if (this.#first !== undefined) this.#note(answer, this.#first);
    else if (answer.kind === 'rejected') return unproven({ kind: 'nothing-new' });
    else this.#begin(answer);
    const first = this.#first as PageAnswer;
    this.#search ??= this.#allWays(first);
    const { value, done } = this.#search.next(answer);
    if (done === true) return this.#confirmed(value);
    const isWorthMore = this.#hasReacted || first.hints.hasMore === true;
    this.#probes += 1;
    if (this.#probes > (isWorthMore ? mostProbesForMore : mostProbes))
      return this.#confirmed(judgeLonePage(first, this.#facts, this.#shown));
    return value;
  }

  #begin(first: PageAnswer): void {
    const { total, hasMore } = first.hints;
    this.#first = first;
    this.#shown.total = total;
    const toFront = (way: Way): Way[] => this.#ways.sort((a, b) => Number(b === way) - Number(a === way));
    // A smaller size shows whether it counts the leads, or the page.
    if (total === first.facts.count) toFront('offset');
    if (hasMore === true) toFront('behind');
  }

  #note(answer: Answer, first: PageAnswer): void {
    const isAgain = answer.kind === 'answer' && isPageAgain(answer, first);
    this.#hasReacted ||= !isAgain;
    if (answer.kind === 'answer') this.#shown.note(answer, first);
    if (!isAgain) return;
    const isShorter = answer.facts.count < Math.min(first.facts.count, answer.request.limit ?? Infinity);
    this.#hasMoved ||= isShorter || !answer.head.every((record) => this.#isMet(record));
  }

  *#allWays(first: PageAnswer): Search<Step> {
    for (let way = this.#ways.shift(); way !== undefined; way = this.#ways.shift()) {
      const step = yield* this.#try(way, first);
      if (step !== undefined) return step;
      if (this.#shown.isTotal && this.#shown.total === first.facts.count) break;
    }
    return judgeLonePage(first, this.#facts, this.#shown);
  }

  #try(way: Way, first: PageAnswer): Search {
    switch (way) {
      case 'page':
        return this.#tryPage(first);
      case 'offset':
        return this.#tryOffset(first);
      case 'older':
        return this.#tryIds(first, { ids: idNamesBehind.older, times: this.#times(first) });
      case 'limit':
        return this.#tryLimit(first);
      case 'time':
        return this.#tryEarlierTime(first);
      case 'behind':
        return this.#tryIds(first, { ids: this.#idNames(first), times: [] });
    }
  }

  /** What probes show of a list that moved meanwhile is no proof. */
  #confirmed(step: Step): Step {
    if (!this.#hasMoved || step.kind === 'page' || step.kind === 'unproven') return step;
    if (this.#restarts < mostRestarts) return this.#restart();
    if (step.kind === 'complete') return unproven({ kind: 'list-kept-moving' });
    return { kind: 'reread', pager: step.pager.again(), isRestart: true };
  }

  #restart(): Step {
    const pager = new SinglePager(this.#params, this.#facts);
    pager.#restarts = this.#restarts + 1;
    return { kind: 'reread', pager, isRestart: true };
  }

  /** Records without an id tell nothing. */
  #isMet(record: ScannedRecord | undefined): boolean {
    return record === undefined || !record.hasId || this.#facts.isMet(record);
  }

  #idNames({ hints }: PageAnswer): readonly string[] {
    const { cursor } = this.#params;
    if (cursor !== undefined) return [cursor];
    return hints.hasMore === true ? idNamesBehind.behindForMore : idNamesBehind.behind;
  }

  /** A time leads further only where the page is sorted by it. */
  #times({ head, tail }: PageAnswer): readonly string[] {
    const oldest = oldestOfNewestFirst(tail);
    const isSorted = oldest !== undefined && readCreatedAt(head[0]?.createdAt) !== oldest;
    return isSorted ? this.#params.untilNames : [];
  }

  *#tryPage(first: PageAnswer): Search {
    const { page: param, firstPage: base } = this.#params;
    // As long as the first one: a shorter one could not be told from leads that arrive.
    const numbered = (page: number): PageRequest =>
      probe({ style: 'page', param, page }, first.request.limit);
    const second = yield numbered(base + 1);
    const isRefused = second.kind === 'rejected' && second.error.status !== 404;
    if (isFilled(second)) return isPageAgain(second, first) ? undefined : this.#goOn(first);
    // Pages may be counted from 0, or an empty page may be what a filter gives.
    const again = yield numbered(base);
    if (isFilled(again)) {
      if (!isPageAgain(again, first)) return this.#goOn(first);
      return isRefused ? undefined : yield* this.#onlyPage(again, first);
    }
    // Only the first of pages that are counted from 0 is not empty; a filter leaves that empty as well.
    const zeroth = yield numbered(base - 1);
    if (isFilled(zeroth) && isPageAgain(zeroth, first)) return yield* this.#onlyPage(zeroth, first);
    return yield* this.#tryUnderscore(first);
  }

  /** Leads of a second page may have moved up before that was asked for: then the list is another one now. */
  *#onlyPage(again: PageAnswer, first: PageAnswer): Search {
    if (!isUnmoved(again, first))
      return this.#restarts < mostRestarts ? this.#restart() : unproven({ kind: 'list-kept-moving' });
    // As many leads as a page of one or two holds may have arrived between two requests.
    if (first.facts.count >= fewestUnmoved) return complete('nothing-behind');
    const front = yield probe(start, first.request.limit);
    return isUnmoved(front, first) ? complete('nothing-behind') : unproven({ kind: 'list-kept-moving' });
  }

  /** Where a plain name is taken for a filter, one with `_` in front may take the number (json-server). */
  *#tryUnderscore(first: PageAnswer, limit?: number): Search {
    const param = '_page';
    const answer = yield probe({ style: 'page', param, page: 2 }, limit);
    if (answer.kind === 'rejected' || answer.hints.pages === undefined) return undefined;
    const { pages, total } = answer.hints;
    if (total === first.facts.count) return complete('total');
    return pages > 1 ? this.#goOn(first, { param, base: 1 }) : complete('nothing-behind');
  }

  #goOn(first: PageAnswer, of: Partial<PageParam> = { isBaseUnseen: true }): Step {
    const { page: param, firstPage: base } = this.#params;
    const pages = { param, base, ignored: this.#others(), ...of };
    return goOnWith(pagesBehind(pages, first, this.#facts.overlaps), first);
  }

  /** Where a parameter is ignored after all, the other ways are left. */
  #others(): (page: PageAnswer) => Step {
    const ways = [...this.#ways];
    return (page) => {
      const pager = new SinglePager(this.#params, this.#facts, ways);
      return turn(pager, pager.next(page));
    };
  }

  *#tryOffset(first: PageAnswer): Search {
    const { limit, isLimitGuessed, offset: param = 'offset' } = this.#params;
    const { count } = first.facts;
    const offsets = (): Step =>
      goOnWith(
        offsetsBehind({ param, base: 0, ignored: this.#others() }, first, this.#facts.overlaps),
        first,
      );
    const behind = probe({ style: 'offset', param, offset: count }, limit === undefined ? undefined : 1);
    // With every name that a limit may have: an answer of one lead shows what else is said where there is more.
    let answer = yield isLimitGuessed ? { ...behind, limitNames: plainLimitNames } : behind;
    if (answer.kind === 'rejected' && isLimitGuessed) answer = yield behind;
    const total = answer.kind === 'answer' ? answer.hints.total : undefined;
    if (isFilled(answer)) {
      if (isPageAgain(answer, first)) return undefined;
      this.#hasMoved ||= this.#isMet(answer.head[0]);
      return offsets();
    }
    // An answer without leads counts as many, too.
    if (total === count && first.hints.total === count) return complete('total');
    if (count < 2) return undefined;
    // An offset that is honoured gives the last record again.
    const last = yield probe({ style: 'offset', param, offset: count - 1 }, first.request.limit);
    if (last.kind === 'rejected' || !isSame(last.head[0], first.tail.at(-1))) return undefined;
    return last.facts.count === 1 ? complete('nothing-behind') : offsets();
  }

  /** All names of one meaning in one request; where that is rejected, the first one alone. */
  *#tryIds(first: PageAnswer, names: BeforeNames): Search {
    const { overlaps } = this.#facts;
    const position = positionBehind(names, first.tail, overlaps ? 2 : 1);
    if (position === undefined) return undefined;
    const answer = yield probe(position, first.request.limit);
    if (answer.kind === 'rejected') {
      const [only, ...others] = names.ids;
      const isMany = others.length + names.times.length > 0;
      return isMany && only !== undefined
        ? yield* this.#tryIds(first, { ids: [only], times: [] })
        : undefined;
    }
    const { count } = answer.facts;
    if (count === 0 || isPageAgain(answer, first) || namesItself(position, answer)) return undefined;
    const isKnown = this.#isMet(answer.head[0]);
    const isLastAgain = answer.head.some((record) => isSame(record, first.tail.at(-1)));
    const isJoined = first.facts.count < 2 ? !isKnown : isLastAgain;
    // Other leads show that the name is honoured: where the last one has gone, an earlier one leads there.
    if (!isJoined && isKnown) return undefined;
    if (isJoined && answer.head.every((record) => this.#isMet(record)) && count < first.facts.count)
      return answer.hints.hasMore === true
        ? unproven({ kind: 'more-without-leads' })
        : complete('nothing-behind');
    const pager = new BeforePager(names, { overlaps });
    return turn(pager, pager.next(first));
  }

  /** A limit was honoured by some name: whether by the usual one, or beside a page number with `_` in front. */
  *#tryLimit(first: PageAnswer): Search {
    const { isHonoured, isHonouredBySome } = this.#shown;
    return isHonoured || !isHonouredBySome ? undefined : yield* this.#tryUnderscore(first, 1);
  }

  /** Of leads that all have one time: whether an earlier one is honoured, which brings none. */
  *#tryEarlierTime(first: PageAnswer): Search {
    const times = this.#params.untilNames;
    const [newest, oldest] = [first.head[0], first.tail.at(-1)].map((lead) => readCreatedAt(lead?.createdAt));
    const id = first.tail.at(-1)?.id;
    const { count } = first.facts;
    const mayBeCut = count < fewest || isUsualCap(count) || isRound(count);
    if (mayBeCut || times.length === 0 || oldest === undefined || newest !== oldest || id === undefined)
      return undefined;
    const position: Position = { style: 'before', ids: [], id, times: [...times], time: oldest - 60_000 };
    const answer = yield probe(position, first.request.limit);
    return answer.kind === 'answer' && answer.facts.count === 0 ? complete('nothing-behind') : undefined;
  }
}

/** The list may have moved since its first page was read: where pages overlap, that is read once more. */
function goOnWith(pager: Pager, first: PageAnswer): Step {
  if (pager.movement === 'overlapped') return { kind: 'reread', pager, isRestart: true };
  return turn(pager, pager.next(first));
}

const isFilled = (answer: Answer): answer is PageAnswer => answer.kind === 'answer' && answer.facts.count > 0;

/** Whether an answer is the first page, lead by lead. */
const isUnmoved = (answer: Answer, first: PageAnswer): boolean =>
  answer.kind === 'answer' &&
  answer.facts.count === first.facts.count &&
  answer.head.every((record, at) => isSame(record, first.head[at])) &&
  answer.tail.every((record, at) => isSame(record, first.tail[at]));

function waysOf(params: RequestParams): Way[] {
  const isOffset = params.offset !== undefined && !params.url.searchParams.has(params.page);
  return isOffset
    ? ['offset', 'older', 'behind', 'limit', 'time']
    : ['page', 'offset', 'older', 'behind', 'limit', 'time'];
}

/** Whether an answer is the first page, or the beginning of it; leads may have arrived before. */
function isPageAgain({ head }: PageAnswer, first: PageAnswer): boolean {
  const at = head.findIndex((record) => isSame(record, first.head[0]));
  return at === 0 || (at > 0 && (head[at + 1] === undefined || isSame(head[at + 1], first.head[1])));
}

/** What answers to a smaller size show of the one page of a list. */
class ShownByLimit {
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
function mayProveByLimit(first: PageAnswer, shown: ShownByLimit): boolean {
  const { count } = first.facts;
  const isAtCap = wasAskedFor(first, shown) || isUsualCap(count) || count === first.hints.pageSize;
  return count < (first.request.limit ?? 0) && !isAtCap && !isRound(count);
}

/** Nothing leads past the page: it is everything where the service's answers, or the run before, show it. */
function judgeLonePage(first: PageAnswer, facts: ListFacts, shown: ShownByLimit): Complete | Unproven {
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
