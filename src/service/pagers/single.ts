import type { ScannedRecord } from '../../json/scanner.ts';
import { oldestOfNewestFirst, readCreatedAt } from '../../lead/raw-lead.ts';
import { BeforePager, type BeforeNames, namesItself, positionBehind } from './before.ts';
import { isUsualCap } from './ends.ts';
import {
  fewest,
  isRound,
  judgeLonePage,
  type ListFacts,
  mayProveByLimit,
  ShownByLimit,
} from './lone-page.ts';
import { idNamesBehind, numberParams } from './names.ts';
import { offsetsBehind } from './offset.ts';
import { type PageParam, pagesBehind } from './page.ts';
import {
  type Answer,
  complete,
  isSame,
  type PageAnswer,
  type Pager,
  type PageRequest,
  ask,
  probe,
  type Step,
  turn,
  unproven,
} from './pager.ts';
import { start } from './position.ts';
import type { RequestParams } from './request-params.ts';

/** The ways past a page that names no next one. */
export type Way = 'page' | 'offset' | 'older' | 'behind' | 'limit' | 'time';

/** Requests after a page that names no next one; where it says that there is more, a few more. */
const mostProbes = 4;
const mostProbesForMore = 9;
/** Leads on a page that cannot all arrive between two requests. */
const fewestUnmoved = 3;
/** Of a list that moved while it was probed. */
const mostRestarts = 2;

/** Some services fail over brackets. */
const plainLimitNames = numberParams.limit.usual.filter((name) => !name.includes('['));

interface Probe {
  readonly request: PageRequest;
  /** What follows; undefined: the next way is tried. */
  readonly read: (answer: Answer) => Step | Probe | undefined;
}

/** One page that names no next one: tries the usual ways past it, and judges what nothing leads past. */
export class SinglePager implements Pager {
  readonly movement = 'anchored';
  readonly #params: RequestParams;
  readonly #facts: ListFacts;
  readonly #ways: Way[];
  #first: PageAnswer | undefined;
  #probe: Probe | undefined;
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
    if (this.#first === undefined) {
      if (answer.kind === 'rejected') return unproven({ kind: 'nothing-new' });
      this.#first = answer;
      this.#shown.total = answer.hints.total;
      // A smaller size shows whether it counts the leads, or the page.
      if (this.#shown.total === answer.facts.count)
        this.#ways.sort((a, b) => Number(b === 'offset') - Number(a === 'offset'));
      if (answer.hints.hasMore === true)
        this.#ways.sort((a, b) => Number(b === 'behind') - Number(a === 'behind'));
      return this.#tryNext(answer);
    }
    const first = this.#first;
    if (answer.kind === 'answer') this.#shown.note(answer, first);
    if (this.#shown.isTotal && this.#shown.total === first.facts.count) this.#ways.length = 0;
    if (answer.kind === 'answer' && isPageAgain(answer, first)) {
      const isShorter = answer.facts.count < Math.min(first.facts.count, answer.request.limit ?? Infinity);
      this.#hasMoved ||= isShorter || !answer.head.every((record) => this.#isMet(record));
    }
    this.#hasReacted ||= answer.kind === 'rejected' || !isPageAgain(answer, this.#first);
    const found = this.#probe?.read(answer);
    if (found === undefined) return this.#tryNext(this.#first);
    return 'request' in found && 'read' in found ? this.#ask(found) : this.#confirmed(found);
  }

  /** What probes show of a list that moved meanwhile is no proof. */
  #confirmed(step: Step): Step {
    if (!this.#hasMoved || step.kind === 'page' || step.kind === 'unproven') return step;
    if (this.#restarts < mostRestarts) return this.#restart();
    if (step.kind === 'complete') return unproven({ kind: 'list-kept-moving' });
    return { kind: 'reread', pager: step.pager.again(), isRestart: true };
  }

  /** Records without an id tell nothing. */
  #isMet(record: ScannedRecord | undefined): boolean {
    return record === undefined || !record.hasId || this.#facts.isMet(record);
  }

  #isKnown({ head }: PageAnswer): boolean {
    return this.#isMet(head[0]);
  }

  #restart(): Step {
    const pager = new SinglePager(this.#params, this.#facts);
    pager.#restarts = this.#restarts + 1;
    return { kind: 'reread', pager, isRestart: true };
  }

  #tryNext(first: PageAnswer): Step {
    for (let way = this.#ways.shift(); way !== undefined; way = this.#ways.shift()) {
      const wanted = this.#probeOf(way, first);
      if (wanted !== undefined) return this.#ask(wanted);
    }
    return this.#confirmed(judgeLonePage(first, this.#facts, this.#shown));
  }

  #ask(wanted: Probe): Step {
    if (this.#first !== undefined && this.#probes >= this.#mostProbes(this.#first))
      return this.#confirmed(judgeLonePage(this.#first, this.#facts, this.#shown));
    this.#probes += 1;
    this.#probe = wanted;
    return wanted.request;
  }

  #mostProbes({ hints }: PageAnswer): number {
    if (hints.hasMore === true) return mostProbesForMore;
    return this.#hasReacted ? mostProbes + 6 : mostProbes + 2;
  }

  #probeOf(way: Way, first: PageAnswer): Probe | undefined {
    switch (way) {
      case 'page':
        return this.#pageProbe(first);
      case 'offset':
        return this.#offsetProbe(first);
      case 'older':
        return this.#idProbe(first, { ids: idNamesBehind.older, times: this.#times(first) });
      case 'limit':
        return this.#limitProbe(first);
      case 'time':
        return this.#earlierTime(first);
      case 'behind':
        return this.#idProbe(first, { ids: this.#idNames(first), times: [] });
    }
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

  /** The second page, as long as the first one: a shorter one could not be told from leads that arrive. */
  #pageProbe(first: PageAnswer): Probe {
    const { page: param, firstPage: base } = this.#params;
    return {
      request: probe({ style: 'page', param, page: base + 1 }, first.request.limit),
      read: (second) => {
        if (second.kind === 'rejected') return this.#firstPageAgain(first, second.error.status !== 404);
        if (second.facts.count === 0) return this.#firstPageAgain(first, false);
        return isPageAgain(second, first) ? undefined : this.#goOn(first);
      },
    };
  }

  /** Where a parameter is ignored after all, the other ways are left. */
  #others(): (page: PageAnswer) => Step {
    const ways = [...this.#ways];
    return (page) => {
      const pager = new SinglePager(this.#params, this.#facts, ways);
      return turn(pager, pager.next(page));
    };
  }

  /** Pages may be counted from 0, or an empty page may be what a filter gives. */
  #firstPageAgain(first: PageAnswer, isRejected: boolean): Probe {
    const { page: param, firstPage: base } = this.#params;
    return {
      request: probe({ style: 'page', param, page: base }, first.request.limit),
      read: (again) => {
        if (again.kind === 'rejected' || again.facts.count === 0) return this.#zerothPage(first);
        if (!isPageAgain(again, first)) return this.#goOn(first);
        return isRejected ? undefined : this.#onlyPage(again, first);
      },
    };
  }

  /** Only the first of pages that are counted from 0 is not empty; a filter leaves that empty as well. */
  #zerothPage(first: PageAnswer): Probe {
    const { page: param, firstPage: base } = this.#params;
    return {
      request: probe({ style: 'page', param, page: base - 1 }, first.request.limit),
      read: (zeroth) =>
        zeroth.kind === 'answer' && zeroth.facts.count > 0 && isPageAgain(zeroth, first)
          ? this.#onlyPage(zeroth, first)
          : this.#underscoredPage(first),
    };
  }

  /** Leads of a second page may have moved up before that was asked for: then the list is another one now. */
  #onlyPage(again: PageAnswer, first: PageAnswer): Step | Probe {
    if (!isUnmoved(again, first))
      return this.#restarts < mostRestarts ? this.#restart() : unproven({ kind: 'list-kept-moving' });
    // As many leads as a page of one or two holds may have arrived between two requests.
    if (first.facts.count >= fewestUnmoved) return complete('nothing-behind');
    return {
      request: probe(start, first.request.limit),
      read: (front) =>
        front.kind === 'answer' && isUnmoved(front, first)
          ? complete('nothing-behind')
          : unproven({ kind: 'list-kept-moving' }),
    };
  }

  /** Where a plain name is taken for a filter, one with `_` in front may take the number (json-server). */
  #underscoredPage(first: PageAnswer): Probe {
    const param = '_page';
    return {
      request: probe({ style: 'page', param, page: 2 }, undefined),
      read: (answer) => {
        const pages = answer.kind === 'answer' ? answer.hints.pages : undefined;
        if (pages === undefined) return undefined;
        return pages > 1 ? this.#goOn(first, { param, base: 1 }) : complete('nothing-behind');
      },
    };
  }

  #goOn(first: PageAnswer, of: Partial<PageParam> = { isBaseUnseen: true }): Step {
    const { page: param, firstPage: base } = this.#params;
    const pages = { param, base, ignored: this.#others(), ...of };
    return goOnWith(pagesBehind(pages, first, this.#facts.overlaps), first);
  }

  /** With every name that a limit may have: an answer of one lead shows what else is said where there is more. */
  #offsetProbe(first: PageAnswer, isRetry = false): Probe {
    const { limit, isLimitGuessed, offset: param = 'offset' } = this.#params;
    const limitNames = isLimitGuessed && !isRetry ? plainLimitNames : undefined;
    const request = probe(
      { style: 'offset', param, offset: first.facts.count },
      limit === undefined ? undefined : 1,
    );
    const { count } = first.facts;
    // Another lead than the first one stands there.
    const isOther = (answer: Answer): boolean =>
      answer.kind === 'answer' && answer.facts.count > 0 && !isPageAgain(answer, first);
    return {
      request: limitNames === undefined ? request : { ...request, limitNames },
      read: (answer) => {
        if (answer.kind === 'rejected' && limitNames !== undefined) return this.#offsetProbe(first, true);
        if (answer.kind === 'answer' && this.#isKnown(answer)) this.#hasMoved ||= isOther(answer);
        if (isOther(answer)) return goOnWith(this.#offsets(param, first), first);
        const isEmpty = answer.kind === 'rejected' || answer.facts.count === 0;
        const total = answer.kind === 'answer' ? answer.hints.total : undefined;
        // An answer without leads counts as many, too.
        if (isEmpty && total === count && first.hints.total === count) return complete('total');
        return isEmpty && count > 1 ? this.#lastRecord(first, param) : undefined;
      },
    };
  }

  /** Where offsets are ignored after all, the other ways are left. */
  #offsets(param: string, first: PageAnswer): Pager {
    return offsetsBehind({ param, base: 0, ignored: this.#others() }, first, this.#facts.overlaps);
  }

  /** An offset that is honoured gives the last record again. */
  #lastRecord(first: PageAnswer, param: string): Probe {
    const offset = first.facts.count - 1;
    return {
      request: probe({ style: 'offset', param, offset }, first.request.limit),
      read: (answer) => {
        if (answer.kind === 'rejected' || !isSame(answer.head[0], first.tail.at(-1))) return undefined;
        if (answer.facts.count === 1) return complete('nothing-behind');
        return goOnWith(this.#offsets(param, first), first);
      },
    };
  }

  /** All names of one meaning in one request; where that is rejected, the first one alone. */
  #idProbe(first: PageAnswer, names: BeforeNames): Probe | undefined {
    const position = positionBehind(names, first.tail, this.#facts.overlaps ? 2 : 1);
    if (position === undefined) return undefined;
    const known = first.facts.count < 2 ? 0 : 1;
    return {
      request: probe(position, first.request.limit),
      read: (answer) => {
        if (answer.kind === 'rejected') {
          const [only, ...others] = names.ids;
          const isMany = others.length + names.times.length > 0;
          return isMany && only !== undefined ? this.#idProbe(first, { ids: [only], times: [] }) : undefined;
        }
        const { count } = answer.facts;
        if (count === 0 || isPageAgain(answer, first) || namesItself(position, answer)) return undefined;
        const at = answer.head.findIndex((record) => isSame(record, first.tail.at(-1)));
        const isJoined = known === 0 ? !this.#isKnown(answer) : at >= 0;
        // Other leads show that the name is honoured: where the last one has gone, an earlier one leads there.
        if (!isJoined && this.#isKnown(answer)) return undefined;
        if (isJoined && answer.head.every((record) => this.#isMet(record)) && count < first.facts.count)
          return answer.hints.hasMore === true
            ? unproven({ kind: 'more-without-leads' })
            : complete('nothing-behind');
        const pager = new BeforePager(names, { overlaps: this.#facts.overlaps });
        return turn(pager, pager.next(first));
      },
    };
  }

  /** Whether the usual name of the limit is the one that is honoured, where that proves the page. */
  #limitProbe(first: PageAnswer): Probe | undefined {
    const { isHonoured, isHonouredBySome } = this.#shown;
    if (isHonoured || !isHonouredBySome || !mayProveByLimit(first, this.#shown)) return undefined;
    const { page: param, firstPage: page } = this.#params;
    return { request: probe({ style: 'page', param, page }, 1), read: () => undefined };
  }

  /** Of leads that all have one time: whether an earlier one is honoured, which brings none. */
  #earlierTime(first: PageAnswer): Probe | undefined {
    const times = this.#params.untilNames;
    const [newest, oldest] = [first.head[0], first.tail.at(-1)].map((lead) => readCreatedAt(lead?.createdAt));
    const id = first.tail.at(-1)?.id;
    const { count } = first.facts;
    const mayBeCut = count < fewest || isUsualCap(count) || isRound(count);
    if (mayBeCut || times.length === 0 || oldest === undefined || newest !== oldest || id === undefined)
      return undefined;
    return {
      request: probe(
        { style: 'before', ids: [], id, times: [...times], time: oldest - 60_000 },
        first.request.limit,
      ),
      read: (answer) =>
        answer.kind === 'answer' && answer.facts.count === 0 ? complete('nothing-behind') : undefined,
    };
  }
}

/** The list may have moved since its first page was read: where pages overlap, that is read once more. */
function goOnWith(pager: Pager, first: PageAnswer): Step {
  if (pager.movement === 'overlapped') return { kind: 'reread', pager, isRestart: true };
  return turn(pager, pager.next(first));
}

/** Whether an answer is the first page, lead by lead. */
const isUnmoved = ({ facts, head, tail }: PageAnswer, first: PageAnswer): boolean =>
  facts.count === first.facts.count &&
  head.every((record, at) => isSame(record, first.head[at])) &&
  tail.every((record, at) => isSame(record, first.tail[at]));

function waysOf(params: RequestParams): Way[] {
  const isOffset = params.offset !== undefined && !params.url.searchParams.has(params.page);
  return isOffset
    ? ['offset', 'older', 'behind', 'limit', 'time']
    : ['page', 'offset', 'older', 'behind', 'limit', 'time'];
}

/** Whether an answer is the first page, or the beginning of it; leads may have arrived before. */
function isPageAgain({ head }: PageAnswer, first: PageAnswer): boolean {
  const at = head.findIndex((record) => isSame(record, first.head[0]));
  return at >= 0 && (at === 0 || isKnownRun(head, first, at));
}

const isKnownRun = (head: PageAnswer['head'], first: PageAnswer, at: number): boolean =>
  head[at + 1] === undefined || isSame(head[at + 1], first.head[1]);
