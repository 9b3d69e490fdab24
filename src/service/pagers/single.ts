import type { ScannedRecord } from '../../json/scanned-record.ts';
import { oldestOfNewestFirst, readCreatedAt } from '../../lead/raw-lead.ts';
import { BeforePager, namesItself, positionAfter, type BeforeNames } from './before.ts';
import { idParams, numberParams } from './names.ts';
import type { Numbering } from './numbered.ts';
import { pagesAfter } from './overlap.ts';
import {
  ask,
  complete,
  continueWith,
  smallestCap,
  hintWhenPageMayBeCut,
  isSame,
  isUsualCap,
  listKeptMoving,
  moreThanPage,
  moreWithoutLeads,
  nothingNew,
  pageMayBeCut,
  probe,
  totalOutOfReach,
  unproven,
} from './pager.ts';
import type { ListFacts, PageAnswer, Pager, PageRequest, PagerAnswer, PagerStep } from './pager.ts';
import { start, type Position } from './position.ts';
import type { RequestParams } from './request-params.ts';

/**
 * Ways to look for more leads: by a page number, by an offset, by the id or time of the last lead (older ones, or those after it), by
 * a page number beside a limit that is honoured, and by an earlier time than all leads of the page have.
 */
export type Way = 'page' | 'offset' | 'older' | 'after' | 'limit' | 'time';

const allWays: readonly Way[] = ['page', 'offset', 'older', 'after', 'limit', 'time'];

/** Requests after a page that names no next one. */
const mostProbes = 10;
/** Leads on a page that cannot all arrive between two requests. */
const fewestUnmoved = 3;
const mostRestarts = 2;

/** Some services fail over brackets. */
const plainLimitNames = numberParams.limit.tried.filter((name) => !name.includes('['));

/** A search yields the requests that it needs and is sent their answers. It returns undefined where its way leads nowhere. */
type Search<Result = PagerStep | undefined> = Generator<PageRequest, Result, PagerAnswer>;

/** The step that tries these ways after a first page whose numbered pages turned out to be all the same. */
export const tryOtherWays =
  (params: RequestParams, facts: ListFacts, ways: readonly Way[]) =>
  (first: PageAnswer): PagerStep =>
    continueWith(new SinglePager(params, facts, ways), first);

/**
 * Pages on from a page that names no next one: it may be the whole list, or the service pages by a parameter that has to be found.
 * One way after another is tried, and the pager of the first way that brings other leads is switched to. Where none does,
 * `judgeLonePage` decides whether the page is everything.
 *
 * - `#first`: the first page, with which the answer to every probe is compared
 * - `#search`: the ways, one after another; it yields the next probe, is sent its answer, and returns the step that ends the search
 * - `#untried`: the ways after the one that is being tried, for the pager that is switched to as well
 * - `#hasMoved`: the first page came once more with other leads, or fewer
 * - `#goesFurther`: an answer that is not the first page held a lead that the first page lacks
 */
export class SinglePager implements Pager {
  readonly movement = 'anchored';
  readonly #params: RequestParams;
  readonly #facts: ListFacts;
  readonly #restarts: number;
  readonly #limitEffect = new LimitEffect();
  #untried: readonly Way[];
  #first: PageAnswer | undefined;
  #search: Search<PagerStep> | undefined;
  #probes = 0;
  #hasMoved = false;
  #goesFurther = false;

  constructor(params: RequestParams, facts: ListFacts, ways?: readonly Way[], restarts = 0) {
    this.#params = params;
    this.#facts = facts;
    this.#restarts = restarts;
    const isOffset = params.offset !== undefined && !params.url.searchParams.has(params.page);
    this.#untried = ways ?? (isOffset ? allWays.filter((way) => way !== 'page') : allWays);
  }

  first(): PageRequest {
    return ask(start, undefined);
  }

  restarted(): Pager {
    return new SinglePager(this.#params, this.#facts);
  }

  /** The leads of the first page are given; those of a probe are only looked at. */
  accepts(): boolean {
    return this.#first === undefined;
  }

  next(answer: PagerAnswer): PagerStep {
    if (this.#first !== undefined) this.#record(answer, this.#first);
    else if (answer.kind === 'rejected') return nothingNew;
    else this.#first = answer;
    const first = this.#first;
    this.#search ??= this.#tryAll(first);
    const { value, done } = this.#search.next(answer);
    if (done === true) return this.#unlessMoved(value);
    this.#probes += 1;
    if (this.#probes > mostProbes)
      return this.#unlessMoved(judgeLonePage(first, this.#facts, this.#limitEffect));
    return value;
  }

  #record(answer: PagerAnswer, first: PageAnswer): void {
    const isRepeated = answer.kind === 'answer' && isFirstAgain(answer, first);
    if (answer.kind === 'rejected') return;
    this.#limitEffect.record(answer, first);
    const isKnown = answer.head.every((record) => this.#isMet(record));
    const isShorter = answer.facts.count < Math.min(first.facts.count, answer.request.limit ?? Infinity);
    if (isRepeated) this.#hasMoved ||= isShorter || !isKnown;
    else this.#goesFurther ||= !isKnown;
  }

  *#tryAll(first: PageAnswer): Search<PagerStep> {
    const ways = this.#sortedWays(first);
    for (const [i, way] of ways.entries()) {
      this.#untried = ways.slice(i + 1);
      const step = yield* this.#ways[way](first);
      if (step !== undefined) return step;
      if (this.#limitEffect.isTotalOfList && this.#limitEffect.total === first.facts.count) break;
    }
    return judgeLonePage(first, this.#facts, this.#limitEffect);
  }

  /** The last id leads further as a rule where there is more; an offset at the total shows what a total counts that is reached. */
  #sortedWays({ hints, facts }: PageAnswer): readonly Way[] {
    const likely: Way[] = [];
    if (hints.hasMore === true) likely.push('after');
    if (hints.total === facts.count) likely.push('offset');
    return [...new Set([...likely, ...this.#untried])].filter((way) => this.#untried.includes(way));
  }

  readonly #ways: Readonly<Record<Way, (first: PageAnswer) => Search>> = {
    page: (first) => this.#tryPage(first),
    offset: (first) => this.#tryOffset(first),
    older: (first) => this.#tryIds(first, { ids: idParams.older, times: this.#times(first) }),
    after: (first) => this.#tryIds(first, { ids: this.#idNames(first), times: [] }),
    limit: (first) => this.#tryLimit(first),
    time: (first) => this.#tryEarlierTime(first),
  };

  /** Probes of a list that moved meanwhile are no proof: the list is read from its start instead. */
  #unlessMoved(step: PagerStep): PagerStep {
    if (step.kind === 'complete' && this.#goesFurther) return moreThanPage;
    if (!this.#hasMoved || step.kind === 'page' || step.kind === 'unproven') return step;
    if (step.kind === 'complete' || this.#restarts < mostRestarts) return this.#restart();
    return { kind: 'reread', pager: step.pager.restarted(), isRestart: true };
  }

  #restart(): PagerStep {
    if (this.#restarts >= mostRestarts) return listKeptMoving;
    const pager = new SinglePager(this.#params, this.#facts, undefined, this.#restarts + 1);
    return { kind: 'reread', pager, isRestart: true };
  }

  #isMet(record: ScannedRecord | undefined): boolean {
    return record === undefined || !record.hasId || this.#facts.isMet(record);
  }

  #idNames({ hints }: PageAnswer): readonly string[] {
    const { cursor } = this.#params;
    if (cursor !== undefined) return [cursor];
    return hints.hasMore === true ? idParams.afterWithMore : idParams.after;
  }

  /** A time leads further only where the page is sorted by it. */
  #times({ head, tail }: PageAnswer): readonly string[] {
    const oldest = oldestOfNewestFirst(tail);
    const isSorted = oldest !== undefined && readCreatedAt(head[0]?.createdAt) !== oldest;
    return isSorted ? this.#params.untilNames : [];
  }

  #continueBy(numbering: Numbering, first: PageAnswer): PagerStep {
    const whenIgnored = tryOtherWays(this.#params, this.#facts, this.#untried);
    const pager = pagesAfter({ ...numbering, whenIgnored }, first, this.#facts.overlaps);
    // The list may have moved during the probes: where pages overlap, its first page is read once more.
    if (pager.movement === 'overlapped') return { kind: 'reread', pager, isRestart: true };
    return continueWith(pager, first);
  }

  *#tryPage(first: PageAnswer): Search {
    const { page: param, firstPage: base } = this.#params;
    const pages: Numbering = { style: 'page', param, base, isBaseUnseen: true };
    // With the limit of the first page: on a shorter page, the first leads could not be told from leads that arrive.
    const numbered = (number: number): PageRequest =>
      probe({ style: 'page', param, number }, first.request.limit);
    const second = yield numbered(base + 1);
    // A 404 says that there is no second page; another refusal may be for the parameter.
    const isRefused = second.kind === 'rejected' && second.error.status !== 404;
    if (isFilled(second)) return isFirstAgain(second, first) ? undefined : this.#continueBy(pages, first);
    // Pages may be counted from 0, or an empty page may be what a filter gives.
    const reread = yield numbered(base);
    if (isFilled(reread)) {
      if (!isFirstAgain(reread, first)) return this.#continueBy(pages, first);
      return isRefused ? undefined : yield* this.#onlyPage(reread, first);
    }
    // Only the first of pages that are counted from 0 is not empty; a filter leaves that empty as well.
    const zeroth = yield numbered(base - 1);
    if (isFilled(zeroth) && isFirstAgain(zeroth, first)) return yield* this.#onlyPage(zeroth, first);
    return yield* this.#tryUnderscore(first);
  }

  /** A second page is empty. Its leads may have moved to the first one just before: then the first page has changed. */
  *#onlyPage(reread: PageAnswer, first: PageAnswer): Search {
    if (!isUnmoved(reread, first)) return this.#restart();
    // All leads of a page of one or two may have arrived between two requests.
    if (first.facts.count >= fewestUnmoved) return complete('nothing-behind');
    const newest = yield probe(start, first.request.limit);
    return isUnmoved(newest, first) ? complete('nothing-behind') : listKeptMoving;
  }

  /** json-server takes `page` for a filter, and `_page` for the number of a page. */
  *#tryUnderscore(first: PageAnswer, limit?: number): Search {
    const param = '_page';
    const answer = yield probe({ style: 'page', param, number: 2 }, limit);
    if (answer.kind === 'rejected' || answer.hints.pages === undefined) return undefined;
    const { pages, total } = answer.hints;
    if (total === first.facts.count) return complete('total');
    return pages > 1
      ? this.#continueBy({ style: 'page', param, base: 1 }, first)
      : complete('nothing-behind');
  }

  *#tryOffset(first: PageAnswer): Search {
    const { limit, isLimitGuessed, offset: param = 'offset' } = this.#params;
    const { count } = first.facts;
    const offsets: Numbering = { style: 'offset', param, base: 0 };
    const after = probe({ style: 'offset', param, number: count }, limit === undefined ? undefined : 1);
    // The limit of 1 is sent under every name that it may have: such an answer shows what the service says where there is more.
    let answer = yield isLimitGuessed ? { ...after, limitNames: plainLimitNames } : after;
    if (answer.kind === 'rejected' && isLimitGuessed) answer = yield after;
    const total = answer.kind === 'answer' ? answer.hints.total : undefined;
    if (isFilled(answer)) {
      if (isFirstAgain(answer, first)) return undefined;
      this.#hasMoved ||= this.#isMet(answer.head[0]);
      return this.#continueBy(offsets, first);
    }
    if (total === count && first.hints.total === count) return complete('total');
    if (count < 2) return undefined;
    // An offset that is honoured gives the last record once more.
    const last = yield probe({ style: 'offset', param, number: count - 1 }, first.request.limit);
    if (last.kind === 'rejected' || !isSame(last.head[0], first.tail.at(-1))) return undefined;
    return last.facts.count === 1 ? complete('nothing-behind') : this.#continueBy(offsets, first);
  }

  /** Sends all names of one meaning in one request; where that is rejected, the first one alone. */
  *#tryIds(first: PageAnswer, names: BeforeNames): Search {
    const { overlaps } = this.#facts;
    const position = positionAfter(names, first.tail, overlaps ? 2 : 1);
    if (position === undefined) return undefined;
    const answer = yield probe(position, first.request.limit);
    if (answer.kind === 'rejected') {
      const [firstName] = names.ids;
      const isMany = names.ids.length + names.times.length > 1;
      return isMany && firstName !== undefined
        ? yield* this.#tryIds(first, { ids: [firstName], times: [] })
        : undefined;
    }
    const { count } = answer.facts;
    if (count === 0 || isFirstAgain(answer, first) || namesItself(position, answer)) return undefined;
    const isKnown = this.#isMet(answer.head[0]);
    const hasLastLead = answer.head.some((record) => isSame(record, first.tail.at(-1)));
    // The lead before the last one was named: an answer that follows it begins with the last one.
    const isJoined = first.facts.count < 2 ? !isKnown : hasLastLead;
    if (!isJoined && isKnown) return undefined;
    if (isJoined && answer.head.every((record) => this.#isMet(record)) && count < first.facts.count)
      return answer.hints.hasMore === true ? moreWithoutLeads : complete('nothing-behind');
    return continueWith(new BeforePager(names, overlaps), first);
  }

  /** A limit was honoured under some name, and not under the usual one: it may be json-server's `_limit`, which goes with `_page`. */
  *#tryLimit(first: PageAnswer): Search {
    const { isHonoured, isHonouredBySome } = this.#limitEffect;
    return isHonoured || !isHonouredBySome ? undefined : yield* this.#tryUnderscore(first, 1);
  }

  /**
   * An earlier time that is honoured brings no lead where all leads have one time. That proves the end only of a page which is not
   * cut; one with few leads needs no such proof.
   */
  *#tryEarlierTime(first: PageAnswer): Search {
    const times = this.#params.untilNames;
    const { count } = first.facts;
    const last = first.tail.at(-1);
    const [newest, oldest] = [first.head[0], last].map((lead) => readCreatedAt(lead?.createdAt));
    const isFew = count < smallestCap;
    const mayBeCut = isUsualCap(count) || isRound(count);
    const isOneTime = oldest !== undefined && newest === oldest;
    if (isFew || mayBeCut || times.length === 0 || !isOneTime || last?.id === undefined) return undefined;
    const time = oldest - 60_000;
    const position: Position = { style: 'before', ids: [], id: last.id, times: [...times], time };
    const answer = yield probe(position, first.request.limit);
    return answer.kind === 'answer' && answer.facts.count === 0 ? complete('nothing-behind') : undefined;
  }
}

const isFilled = (answer: PagerAnswer): answer is PageAnswer =>
  answer.kind === 'answer' && answer.facts.count > 0;

const isUnmoved = (answer: PagerAnswer, first: PageAnswer): boolean =>
  answer.kind === 'answer' &&
  answer.facts.count === first.facts.count &&
  answer.head.every((record, i) => isSame(record, first.head[i])) &&
  answer.tail.every((record, i) => isSame(record, first.tail[i]));

/** Whether an answer is the first page, or the beginning of it; leads may have arrived before. */
function isFirstAgain({ head }: PageAnswer, first: PageAnswer): boolean {
  const index = head.findIndex((record) => isSame(record, first.head[0]));
  const following = head[index + 1];
  return index === 0 || (index > 0 && (following === undefined || isSame(following, first.head[1])));
}

/**
 * Shows by the answers to requests for fewer leads what the limit does.
 * - `isHonoured`: as many leads came, under the name that was also sent with the first page; `isHonouredBySome`: under some name
 * - `shorterSaysMore`: a shorter page says that there is more; the first page does not, so that it is the end of the list
 * - `isTotalOfPage`: the total became smaller with the page; `isTotalOfList`: it stayed the same
 * - `total`: the largest total that came, if a shorter page told one
 */
class LimitEffect {
  isHonouredBySome = false;
  isHonoured = false;
  isIgnored = false;
  shorterSaysMore = false;
  isTotalOfPage = false;
  isTotalOfList = false;
  total: number | undefined;

  record(answer: PageAnswer, first: PageAnswer): void {
    const { limit, limitNames } = answer.request;
    const { count } = answer.facts;
    if (limit === undefined || limit > count || limit >= first.facts.count) return;
    this.isIgnored ||= count === first.facts.count;
    if (count !== limit) return;
    const { hasMore, next, total, links } = answer.hints;
    const largest = this.total ?? first.hints.total;
    this.isTotalOfPage ||= total !== undefined && largest !== undefined && total < largest;
    this.isTotalOfList ||= total !== undefined && total === largest;
    if (total !== undefined) this.total = Math.max(total, largest ?? 0);
    if (!isSame(answer.head[0], first.head[0])) return;
    this.isHonouredBySome = true;
    this.isHonoured ||= limitNames === undefined;
    this.shorterSaysMore ||= hasMore === true || Boolean(next) || links?.has('next') === true;
  }
}

/** A number at which few services cut their pages, but as likely one of these as an accident. */
const isRound = (count: number): boolean => count % 10 === 0 || count % 16 === 0;

export const judgeWithoutProbes =
  (facts: ListFacts) =>
  (first: PageAnswer): PagerStep =>
    judgeLonePage(first, facts, new LimitEffect());

/**
 * Decides whether a page that nothing leads past is everything. What the service says against it comes first, then what it says for
 * it, then what shows that the page is not cut. Otherwise it may be cut, and the walk is not proven complete.
 */
function judgeLonePage(first: PageAnswer, facts: ListFacts, effect: LimitEffect): PagerStep {
  const { hasMore, pages = 1, pageSize, total: firstTotal = 0 } = first.hints;
  const { count } = first.facts;
  const { limit = 0 } = first.request;
  const { isFiltered } = facts;
  const { total = firstTotal } = effect;
  if (hasMore === true) return unproven('the service says that there is more, and no parameter leads there');
  if (pages > 1) return nothingNew;
  // A total may count what a filter leaves out.
  if (total > count && !isFiltered) return totalOutOfReach(total, count);
  const isLimitReached = count === limit && (!effect.isIgnored || count === 1);
  const isAtCap = isLimitReached || count === pageSize || isUsualCap(count) || isRound(count);
  const isProvenByLimit = effect.isHonoured && count < limit && !isAtCap;
  const isProvenByTotal = total > 0 && total === count && !effect.isTotalOfPage;
  if (isProvenByTotal || isProvenByLimit) return complete('not-paged');
  if (effect.shorterSaysMore && pageSize !== count) return complete('explicit-end');
  if (first.hints.pages === 1) return complete('explicit-end');
  if (reachesBack(first, facts)) return complete('reaches-back');
  const isFew = count < smallestCap && !isLimitReached && count !== pageSize;
  if (isFew && (total <= count || isFiltered)) return complete('few');
  return unproven(
    `${count} leads came, which may be as many as the service gives at once, and no position leads further`,
    hintWhenPageMayBeCut,
    pageMayBeCut,
  );
}

/** The newest leads come first, and the page goes as far back as was asked for, or as the run before had read. */
function reachesBack({ head, tail }: PageAnswer, { since, hasOldestBefore }: ListFacts): boolean {
  const oldest = oldestOfNewestFirst(tail);
  if (oldest === undefined || readCreatedAt(head[0]?.createdAt) === oldest) return false;
  return hasOldestBefore() || (since !== undefined && oldest < since);
}
