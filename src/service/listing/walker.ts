import { DataError } from '../../errors.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import { IdSet, Unidentified } from '../../lead/id-set.ts';
import type { Service } from '../client/service.ts';
import { NullNext } from '../pagination/next-page.ts';
import { keyOf, numberOf, type Position } from '../pagination/position.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import type { Border } from './border-check.ts';
import { complete, type Completion, howToSet } from './completion.ts';
import { Continuity } from './continuity.ts';
import {
  go,
  type PageOutcome,
  type ProbeReason,
  type Step,
  StepDecider,
  type WholePage,
} from './decide-step.ts';
import { fetchPage, markOf, pageUrl } from './fetch-page.ts';
import type { Batch, ListingOptions, ListingStats } from './options.ts';
import { addTallies, dropKnown, noRecords, Passes } from './passes.ts';
import { peekAt } from './peek.ts';
import { Prefetch } from './prefetch.ts';
import { Probes } from './probes.ts';
import { settleNoPosition, settlePass } from './settle.ts';
import { noteOtherStatus } from './status-field.ts';
import { Totals } from './totals.ts';

const start: Position = { style: 'start' };

/** Reads page after page: one outcome a page, from it the next step. */
export class Walker {
  readonly #service: Service;
  readonly #options: ListingOptions;
  readonly #stats: ListingStats;
  readonly #seen: IdSet;
  readonly #prefetch: Prefetch;
  readonly #probes: Probes;
  readonly #guard = new LoopGuard();
  readonly #continuity: Continuity;
  readonly #decider: StepDecider;
  readonly #sizes: PageSizes;
  readonly #isFiltered: boolean;
  readonly #passes = new Passes();
  readonly #unidentified = new Unidentified();
  #totals: Totals;
  #isNumbered = false;

  constructor(
    service: Service,
    params: RequestParams,
    options: ListingOptions,
    stats: ListingStats,
    signal: AbortSignal,
  ) {
    const { query, from = start } = options;
    this.#service = service;
    this.#options = options;
    this.#stats = stats;
    this.#seen = options.seen ?? new IdSet();
    this.#seen.nextPass();
    // A walk that goes on stays with the size that it had: positions mean something with that only.
    const isFree = params.limit !== undefined && from.style === 'start';
    const fixed = options.pageSize ?? params.pageSize ?? from.size;
    this.#sizes = new PageSizes(fixed, options.preferredSize, isFree, params.isLimitGuessed);
    this.#isFiltered = query.status !== undefined || query.categories?.length === 1;
    this.#decider = new StepDecider(params, new NullNext(this.#isFiltered, options.from), service.clock);
    const peek = peekAt(service, params, query, stats, signal);
    this.#probes = new Probes(params, peek, this.#seen);
    const isEarly = (position: Position): boolean => this.#prefetch.isEarly(position);
    this.#continuity = new Continuity(this.#seen, peek, params.firstPage, isEarly);
    this.#totals = new Totals(from.totals, from.style === 'start' ? 0 : undefined);
    this.#isNumbered = numberOf(from) !== undefined;
    this.#prefetch = new Prefetch((position) =>
      fetchPage(service, params, pageUrl(params, query, this.#sizes.current, position), stats, signal),
    );
  }

  async *run(): AsyncGenerator<Batch, Completion, undefined> {
    let position = this.#continuity.startAt(this.#options.from ?? start);
    for (;;) {
      this.#guard.enter(keyOf(position));
      const outcome: PageOutcome = yield* this.#read(position);
      if (outcome.kind === 'moved' || outcome.kind === 'size-rejected') {
        if (outcome.kind === 'moved' && !this.#prefetch.dropEarly(position))
          position = this.#stepBack(position, outcome.border);
        this.#guard.reset();
        continue;
      }
      const leads = outcome.kind === 'page' ? outcome.leads : [];
      let step = this.#settle(this.#stepAfter(position, outcome));
      this.#stats.leads += leads.length;
      this.#stats.restarts = this.#continuity.steps.count;
      yield { leads, next: step.kind === 'go' ? step.position : undefined, last: step.kind === 'end' };
      if (step.kind === 'probe') {
        step = this.#settle(await this.#probe(step.reason));
        if (step.kind === 'end') yield { leads: [], next: undefined, last: true };
      }
      if (step.kind === 'end') return step.completion;
      if (step.kind === 'go') position = step.position;
    }
  }

  #stepAfter(position: Position, outcome: Exclude<PageOutcome, { kind: 'moved' | 'size-rejected' }>): Step {
    if (outcome.kind === 'page') return this.#afterPage(position, outcome);
    if (outcome.kind === 'rejected') return this.#decider.afterRejection(position, outcome.error);
    return { kind: 'probe', reason: { kind: 'ignored' } };
  }

  /** What is read again from here on was met in an earlier pass: it is no sign of a loop. */
  #stepBack(position: Position, border: Border): Position {
    this.#prefetch.clear();
    this.#seen.nextPass();
    this.#unidentified.nextPass();
    this.#passes.noteStepBack();
    this.#totals.met = undefined;
    if (border === 'gap') this.#continuity.countFrom(this.#probes.recount(position));
    return this.#continuity.stepBack(position, border);
  }

  async *#read(position: Position): AsyncGenerator<Batch, PageOutcome> {
    let [tally, isFirst] = [noRecords, true];
    let first: ScannedRecord | undefined;
    try {
      for await (const part of this.#prefetch.take(position)) {
        if (isFirst && this.#probes.isIgnored(position, part.leads)) return { kind: 'ignored' };
        if (isFirst) {
          const border = await this.#continuity.borderOf(position, part.leads, this.#sizes.current);
          if (border !== 'joined') return { kind: 'moved', border };
        }
        const unread = isFirst ? this.#continuity.unreadOf(position, part.leads) : part.leads;
        const isFront = this.#passes.current === 'front';
        if (isFirst) this.#continuity.front.notePage(part.leads, position.style === 'start', isFront);
        if (isFirst) first = part.leads[0];
        isFirst = false;
        const found = dropKnown(unread, this.#seen, this.#unidentified, this.#passes);
        const { kept: leads, tally: added, newWithoutId } = found;
        // An attempt that broke off has sent some of these already: the service did not repeat them.
        tally = addTallies(tally, part.again ? { ...added, fresh: added.fresh + added.repeated } : added);
        if (!part.again) this.#stats.duplicates += added.repeated;
        this.#stats.withoutId += newWithoutId;
        noteOtherStatus(this.#service, this.#options.query.status, leads);
        if (part.facts !== undefined) {
          if (position.style === 'start' && part.facts.count === 0 && this.#sizes.dropGuess())
            return { kind: 'size-rejected' };
          const ends = { firstId: first?.id, firstMark: markOf(first), lastMark: markOf(part.leads.at(-1)) };
          return { kind: 'page', facts: part.facts, leads, tally, ...ends };
        }
        this.#stats.leads += leads.length;
        yield { leads, next: undefined, last: false };
      }
    } catch (error) {
      const outcome =
        error instanceof DataError && isFirst ? await this.#rejected(position, error) : undefined;
      if (outcome === undefined) throw error;
      return outcome;
    }
    throw new Error('a page ended without an end');
  }

  async #rejected(position: Position, error: DataError): Promise<PageOutcome | undefined> {
    if (position.style === 'start')
      return this.#sizes.fallBack(error) ? { kind: 'size-rejected' } : undefined;
    if (!this.#decider.hasRead || ![400, 404, 410, 416, 422].includes(error.status ?? 0)) return undefined;
    // A list that became shorter may end in front of this page.
    const border = await this.#continuity.borderOf(position, [], this.#sizes.current);
    if (border !== 'joined') return { kind: 'moved', border };
    const isNew = this.#decider.isAnnounced && this.#continuity.mayReread(position);
    return isNew ? { kind: 'moved', border: 'known' } : { kind: 'rejected', error };
  }

  #afterPage(position: Position, page: WholePage): Step {
    const { facts, tally } = page;
    const totals = this.#totals;
    this.#guard.countRecords(facts.count, (this.#stats.pages += 1));
    if (page.leads.length > 0) this.#continuity.steps.noteNew();
    totals.count(tally);
    const size = this.#sizes.current;
    if (position.style === 'start') {
      totals.repeated = tally.repeated;
      this.#probes.noteFirst(page, size);
    }
    const step = this.#decider.afterPage(position, page, size, totals);
    this.#stats.total = totals.last;
    if (this.#passes.current === 'front' && this.#continuity.front.isReadUpTo(page.leads.length === 0)) {
      return { kind: 'end', completion: complete('nothing-behind') };
    }
    const second =
      step.kind === 'probe' && position.style === 'start' ? this.#probes.secondBehind(facts) : undefined;
    const next = second === undefined ? step : go(second);
    if (next.kind !== 'go') return next;
    this.#continuity.notePageLength(facts.count);
    if (position.style === 'start' && this.#passes.current === 'first') {
      this.#continuity.verifies = totals.last === undefined;
    }
    const following: Position = {
      ...next.position,
      size,
      totals: this.#continuity.verifies ? undefined : totals.soFar(numberOf(next.position) !== undefined),
    };
    this.#isNumbered ||= numberOf(following) !== undefined;
    const concurrency = this.#continuity.canReadAhead ? this.#options.concurrency : 1;
    this.#prefetch.requestAhead(following, facts.count, this.#stats.total, { ...this.#options, concurrency });
    return go(following);
  }

  async #probe(reason: ProbeReason): Promise<Step> {
    const found = await this.#probes.run(reason);
    if (found.kind === 'next' && this.#probes.second !== undefined) {
      return this.#goBehindFirst(this.#probes.second, found.isFirst === true);
    }
    if (found.kind !== 'no-position') return { kind: 'end', completion: complete('nothing-behind') };
    this.#isNumbered = false;
    const end = { ...found, ...this.#probes.first, hasMore: reason.kind === 'behind-id' };
    return settleNoPosition(end, this.#totals, this.#isFiltered, this.#service.messages);
  }

  #goBehindFirst(position: Position, isFirst: boolean): Step {
    this.#decider.noteHonoured();
    this.#guard.reset();
    this.#isNumbered ||= numberOf(position) !== undefined;
    this.#continuity.noteFirst(this.#probes.first.count, this.#totals.last === undefined);
    if (isFirst && position.style === 'page') this.#continuity.countFrom(position.page);
    return go(position);
  }

  /** Where the walk has come to an end: whether that is all, or the list, or its front, has to be read again. */
  #settle(step: Step): Step {
    if (step.kind !== 'end') return step;
    const settled = settlePass(step.completion, {
      totals: this.#totals,
      isFiltered: this.#isFiltered,
      isNumbered: this.#isNumbered,
      passes: this.#passes,
      continuity: this.#continuity,
    });
    if (settled.kind === 'end') return settled;
    this.#seen.nextPass();
    this.#passes.begin(settled.kind, this.#continuity.steps.gaps, this.#seen.pass);
    this.#unidentified.nextPass();
    this.#continuity.beginPass(settled.kind === 'front');
    this.#decider.beginPass();
    this.#guard.reset();
    this.#prefetch.clear();
    this.#totals = new Totals();
    return go(start);
  }
}

/** Sent when the user named no size, the next one when the service rejects one; undefined: the service's default. */
const usualSizes: readonly (number | undefined)[] = [1000, 100, undefined];

/** How many leads to request a page. */
class PageSizes {
  #candidates: readonly (number | undefined)[];
  readonly #isGuess: boolean;

  /**
   * `size` is what the user or the dialect says, `preferred` what would suit the caller; `isFree` is whether the service
   * has a parameter for it, and another size may be tried.
   */
  constructor(size: number | undefined, preferred: number | undefined, isFree: boolean, isGuess: boolean) {
    this.#isGuess = isGuess;
    const usual = usualSizes.filter((one) => one === undefined || preferred === undefined || one < preferred);
    if (size !== undefined || !isFree) this.#candidates = [size];
    else this.#candidates = preferred === undefined ? usual : [preferred, ...usual];
  }

  get current(): number | undefined {
    return this.#candidates[0];
  }

  /** Whether the first page was rejected for its size, and there is another one to try. The user's own size stands. */
  fallBack({ status }: DataError): boolean {
    if (this.#candidates.length === 1) return false;
    if (![400, 413, 414, 416, 422].includes(status ?? 0)) return false;
    this.#candidates = this.#candidates.slice(1);
    return true;
  }

  /** Whether the first page is to be read again without a size: it was empty with one, which may have been a filter. */
  dropGuess(): boolean {
    if (!this.#isGuess || this.current === undefined) return false;
    this.#candidates = [undefined];
    return true;
  }
}

/** Fails a walk that makes no progress: the same position again, or a page that brings nothing new (promise: no loop). */
export class LoopGuard {
  readonly #positions = new Set<string>();
  #empty = 0;

  /** Throws when the service names a position that was walked before. */
  enter(key: string): void {
    if (this.#positions.has(key)) {
      throw new DataError('the service names a page as the next one that was read before', {
        hint: howToSet,
      });
    }
    this.#positions.add(key);
  }

  /** Forgets the positions: the list is walked again. */
  reset(): void {
    this.#positions.clear();
  }

  /** Empty pages may stand in the middle of a list, but not without end. */
  countRecords(records: number, pages: number): void {
    this.#empty = records === 0 ? this.#empty + 1 : 0;
    if (this.#empty > 1000) {
      throw new DataError(`the service sends one empty page after another (${pages} pages read)`);
    }
  }
}
