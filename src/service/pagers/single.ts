import type { ScannedRecord } from '../../json/scanned-record.ts';
import { oldestOfNewestFirst, readCreatedAt } from '../../lead/raw-lead.ts';
import { BeforePager, namesItself, positionBehind, type BeforeNames } from './before.ts';
import { idNamesBehind, numberParams } from './names.ts';
import type { Numbering } from './numbered.ts';
import { pagesBehind } from './overlap.ts';
import {
  ask,
  complete,
  continueWith,
  fewest,
  howToProve,
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
import type {
  Complete,
  ListFacts,
  PageAnswer,
  Pager,
  PageRequest,
  PagerAnswer,
  PagerStep,
  Unproven,
} from './pager.ts';
import { start, type Position } from './position.ts';
import type { RequestParams } from './request-params.ts';

export type Probe = 'page' | 'offset' | 'older' | 'behind' | 'limit' | 'time';

const allProbes: readonly Probe[] = ['page', 'offset', 'older', 'behind', 'limit', 'time'];

/** Requests after a page that names no next one; where the service was seen to react, or says that there is more, a few more. */
const mostProbes = 6;
const mostProbesForMore = 10;
/** Leads on a page that cannot all arrive between two requests. */
const fewestUnmoved = 3;
const mostRestarts = 2;

/** Some services fail over brackets. */
const plainLimitNames = numberParams.limit.usual.filter((name) => !name.includes('['));

type Search<Result = PagerStep | undefined> = Generator<PageRequest, Result, PagerAnswer>;

export const probing =
  (params: RequestParams, facts: ListFacts, probes: readonly Probe[]) =>
  (first: PageAnswer): PagerStep =>
    continueWith(new SinglePager(params, facts, probes), first);

/** Tries the usual ways past a page that names no next one, and judges it where nothing leads past it. */
export class SinglePager implements Pager {
  readonly movement = 'anchored';
  readonly #params: RequestParams;
  readonly #facts: ListFacts;
  readonly #restarts: number;
  readonly #limitEffect = new LimitEffect();
  #untried: readonly Probe[];
  #first: PageAnswer | undefined;
  #search: Search<PagerStep> | undefined;
  #probes = 0;
  #hasReacted = false;
  #hasMoved = false;
  /** An answer that is not the page again held a lead that the page lacks. */
  #goesFurther = false;

  constructor(params: RequestParams, facts: ListFacts, probes?: readonly Probe[], restarts = 0) {
    this.#params = params;
    this.#facts = facts;
    this.#restarts = restarts;
    const isOffset = params.offset !== undefined && !params.url.searchParams.has(params.page);
    this.#untried = probes ?? (isOffset ? allProbes.slice(1) : allProbes);
  }

  first(): PageRequest {
    return ask(start, undefined);
  }

  restarted(): Pager {
    return new SinglePager(this.#params, this.#facts);
  }

  accepts(): boolean {
    return this.#first === undefined;
  }

  next(answer: PagerAnswer): PagerStep {
    if (this.#first !== undefined) this.#note(answer, this.#first);
    else if (answer.kind === 'rejected') return nothingNew;
    else this.#first = answer;
    const first = this.#first;
    this.#search ??= this.#tryAll(first);
    const { value, done } = this.#search.next(answer);
    if (done === true) return this.#confirmed(value);
    const isWorthMore = this.#hasReacted || first.hints.hasMore === true;
    this.#probes += 1;
    if (this.#probes > (isWorthMore ? mostProbesForMore : mostProbes))
      return this.#confirmed(judgeLonePage(first, this.#facts, this.#limitEffect));
    return value;
  }

  #note(answer: PagerAnswer, first: PageAnswer): void {
    const isRepeated = answer.kind === 'answer' && isFirstAgain(answer, first);
    this.#hasReacted ||= !isRepeated;
    if (answer.kind === 'rejected') return;
    this.#limitEffect.note(answer, first);
    const isKnown = answer.head.every((record) => this.#isMet(record));
    const isShorter = answer.facts.count < Math.min(first.facts.count, answer.request.limit ?? Infinity);
    if (isRepeated) this.#hasMoved ||= isShorter || !isKnown;
    else this.#goesFurther ||= !isKnown;
  }

  *#tryAll(first: PageAnswer): Search<PagerStep> {
    const { total, hasMore } = first.hints;
    this.#limitEffect.total = total;
    if (total === first.facts.count) this.#tryFirst('offset');
    if (hasMore === true) this.#tryFirst('behind');
    for (let [way, ...later] = this.#untried; way !== undefined; [way, ...later] = this.#untried) {
      this.#untried = later;
      const step = yield* this.#ways[way](first);
      if (step !== undefined) return step;
      if (this.#limitEffect.isTotal && this.#limitEffect.total === first.facts.count) break;
    }
    return judgeLonePage(first, this.#facts, this.#limitEffect);
  }

  #tryFirst(way: Probe): void {
    this.#untried = this.#untried.toSorted((a, b) => Number(b === way) - Number(a === way));
  }

  readonly #ways: Readonly<Record<Probe, (first: PageAnswer) => Search>> = {
    page: (first) => this.#tryPage(first),
    offset: (first) => this.#tryOffset(first),
    older: (first) => this.#tryIds(first, { ids: idNamesBehind.older, times: this.#times(first) }),
    behind: (first) => this.#tryIds(first, { ids: this.#idNames(first), times: [] }),
    limit: (first) => this.#tryLimit(first),
    time: (first) => this.#tryEarlierTime(first),
  };

  /** Probes of a list that moved meanwhile are no proof. */
  #confirmed(step: PagerStep): PagerStep {
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
    return hints.hasMore === true ? idNamesBehind.behindForMore : idNamesBehind.behind;
  }

  /** A time leads further only where the page is sorted by it. */
  #times({ head, tail }: PageAnswer): readonly string[] {
    const oldest = oldestOfNewestFirst(tail);
    const isSorted = oldest !== undefined && readCreatedAt(head[0]?.createdAt) !== oldest;
    return isSorted ? this.#params.untilNames : [];
  }

  /** The other ways are left where a parameter is ignored after all. */
  #continueBy(numbering: Numbering, first: PageAnswer): PagerStep {
    const ignored = probing(this.#params, this.#facts, this.#untried);
    const pager = pagesBehind({ ...numbering, ignored }, first, this.#facts.overlaps);
    // The list may have moved since its first page was read: where pages overlap, that is read once more.
    if (pager.movement === 'overlapped') return { kind: 'reread', pager, isRestart: true };
    return continueWith(pager, first);
  }

  *#tryPage(first: PageAnswer): Search {
    const { page: param, firstPage: base } = this.#params;
    const pages: Numbering = { style: 'page', param, base, isBaseUnseen: true };
    // It is as long as the first one: a shorter one could not be told from leads that arrive.
    const numbered = (number: number): PageRequest =>
      probe({ style: 'page', param, number }, first.request.limit);
    const second = yield numbered(base + 1);
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

  /** Leads of a second page may have moved up before that was asked for: then the list is another one now. */
  *#onlyPage(reread: PageAnswer, first: PageAnswer): Search {
    if (!isUnmoved(reread, first)) return this.#restart();
    // All leads of a page of one or two may have arrived between two requests.
    if (first.facts.count >= fewestUnmoved) return complete('nothing-behind');
    const newest = yield probe(start, first.request.limit);
    return isUnmoved(newest, first) ? complete('nothing-behind') : listKeptMoving;
  }

  /** A name with `_` before it may take the number where the plain one is taken for a filter (json-server). */
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
    const behind = probe({ style: 'offset', param, number: count }, limit === undefined ? undefined : 1);
    // With every name that a limit may have: an answer of one lead shows what else is said where there is more.
    let answer = yield isLimitGuessed ? { ...behind, limitNames: plainLimitNames } : behind;
    if (answer.kind === 'rejected' && isLimitGuessed) answer = yield behind;
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

  /** All names of one meaning in one request; where that is rejected, the first one alone. */
  *#tryIds(first: PageAnswer, names: BeforeNames): Search {
    const { overlaps } = this.#facts;
    const position = positionBehind(names, first.tail, overlaps ? 2 : 1);
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
    const isLastAgain = answer.head.some((record) => isSame(record, first.tail.at(-1)));
    const isJoined = first.facts.count < 2 ? !isKnown : isLastAgain;
    if (!isJoined && isKnown) return undefined;
    if (isJoined && answer.head.every((record) => this.#isMet(record)) && count < first.facts.count)
      return answer.hints.hasMore === true ? moreWithoutLeads : complete('nothing-behind');
    return continueWith(new BeforePager(names, overlaps), first);
  }

  /** A limit was honoured by some name, and not by the usual one: it may stand beside a page number with `_` before it. */
  *#tryLimit(first: PageAnswer): Search {
    const { isHonoured, isHonouredBySome } = this.#limitEffect;
    return isHonoured || !isHonouredBySome ? undefined : yield* this.#tryUnderscore(first, 1);
  }

  /** An earlier time that is honoured brings no lead where all leads have one time. */
  *#tryEarlierTime(first: PageAnswer): Search {
    const times = this.#params.untilNames;
    const { count } = first.facts;
    const last = first.tail.at(-1);
    const [newest, oldest] = [first.head[0], last].map((lead) => readCreatedAt(lead?.createdAt));
    const mayBeCut = count < fewest || isUsualCap(count) || isRound(count);
    const isOneTime = oldest !== undefined && newest === oldest;
    if (mayBeCut || times.length === 0 || !isOneTime || last?.id === undefined) return undefined;
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

class LimitEffect {
  /** By some name; and by the usual one, by which the first page was asked for. */
  isHonouredBySome = false;
  isHonoured = false;
  isIgnored = false;
  saysMore = false;
  isTotalOfPage = false;
  isTotal = false;
  total: number | undefined;

  note(answer: PageAnswer, first: PageAnswer): void {
    const { limit, limitNames } = answer.request;
    const { count } = answer.facts;
    if (limit === undefined || limit > count || limit >= first.facts.count) return;
    this.isIgnored ||= count === first.facts.count;
    if (count !== limit) return;
    const { hasMore, next, total, links } = answer.hints;
    this.isTotalOfPage ||= total !== undefined && this.total !== undefined && total < this.total;
    this.isTotal ||= total !== undefined && total === this.total;
    if (total !== undefined) this.total = Math.max(total, this.total ?? 0);
    if (!isSame(answer.head[0], first.head[0])) return;
    this.isHonouredBySome = true;
    this.isHonoured ||= limitNames === undefined;
    this.saysMore ||= hasMore === true || Boolean(next) || links?.has('next') === true;
  }
}

/** A count that is not usual, but as likely a limit as an accident. */
const isRound = (count: number): boolean => count % 10 === 0 || count % 16 === 0;

/** Nothing leads past the page: it is everything where the service's answers, or the run before, show it. */
function judgeLonePage(first: PageAnswer, facts: ListFacts, effect: LimitEffect): Complete | Unproven {
  const { hasMore, pages = 1, pageSize } = first.hints;
  const { count } = first.facts;
  const { limit = 0 } = first.request;
  const { isFiltered } = facts;
  const { total = 0 } = effect;
  if (hasMore === true) return unproven('the service says that there is more, and no parameter leads there');
  if (pages > 1) return nothingNew;
  if (total > count && !isFiltered) return totalOutOfReach(total, count);
  const isAsAsked = count === limit && (!effect.isIgnored || count === 1);
  const isAtCap = isAsAsked || count === pageSize || isUsualCap(count) || isRound(count);
  const isProvenByLimit = effect.isHonoured && count < limit && !isAtCap;
  const isProvenByTotal = total > 0 && total === count && !effect.isTotalOfPage;
  if (isProvenByTotal || isProvenByLimit) return complete('not-paged');
  if (effect.saysMore && pageSize !== count) return complete('explicit-end');
  if (first.hints.pages === 1) return complete('explicit-end');
  if (reachesBack(first, facts)) return complete('reaches-back');
  const isFew = count < fewest && !isAsAsked && count !== pageSize;
  if (isFew && (total <= count || isFiltered)) return complete('few');
  return unproven(
    `${count} leads came, which may be as many as the service gives at once, and no position leads further`,
    howToProve,
    pageMayBeCut,
  );
}

/** The newest leads come first, and the oldest one that has to be there is among them. */
function reachesBack({ head, tail }: PageAnswer, { since, hasOldestBefore }: ListFacts): boolean {
  const oldest = oldestOfNewestFirst(tail);
  if (oldest === undefined || readCreatedAt(head[0]?.createdAt) === oldest) return false;
  return hasOldestBefore() || (since !== undefined && oldest < since);
}
