import { DataError } from '../../errors.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import { IdSet } from '../../lead/id-set.ts';
import { Unidentified } from '../../lead/unidentified.ts';
import type { Service } from '../client/service.ts';
import { NullNext } from '../pagination/null-next.ts';
import { keyOf, type Position } from '../pagination/position.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import { numberOf } from '../pagination/position-number.ts';
import { Continuity } from './continuity.ts';
import { StepDecider } from './decide-step.ts';
import { addTallies, dropKnown, noRecords } from './dedupe.ts';
import { complete, type Completion } from './evidence/completion.ts';
import { settleNoPosition, settlePass } from './evidence/settle.ts';
import { Probes } from './evidence/probes.ts';
import { Totals } from './evidence/totals.ts';
import { fetchPage } from './fetch/fetch-page.ts';
import { PageSizes } from './fetch/page-sizes.ts';
import { pageUrl } from './fetch/page-url.ts';
import { peekAt } from './fetch/peek.ts';
import { Prefetch } from './fetch/prefetch.ts';
import { LoopGuard } from './loop-guard.ts';
import { markOf } from './page-mark.ts';
import { go, type PageOutcome, type ProbeReason, type Step, type WholePage } from './page-outcome.ts';
import { Passes } from './passes.ts';
import { noteOtherStatus } from './status-note.ts';
import type { Batch, ListingOptions, ListingStats } from './types.ts';

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
    this.#decider = new StepDecider(params, new NullNext(this.#isFiltered, options.from));
    const peek = peekAt(service, params, query, stats, signal);
    this.#probes = new Probes(params, peek, this.#seen);
    this.#continuity = new Continuity(this.#seen, peek, params.firstPage);
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
        if (outcome.kind === 'moved') position = this.#stepBack(position);
        this.#guard.reset();
        continue;
      }
      const leads = outcome.kind === 'page' ? outcome.leads : [];
      let step = this.#settled(this.#stepAfter(position, outcome));
      this.#stats.leads += leads.length;
      this.#stats.restarts = this.#continuity.restarts;
      yield { leads, next: step.kind === 'go' ? step.position : undefined, last: step.kind === 'end' };
      if (step.kind === 'probe') {
        step = this.#settled(await this.#probe(step.reason));
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

  #settled(step: Step): Step {
    return step.kind === 'end' ? this.#settle(step.completion) : step;
  }

  /** What is read again from here on was met in an earlier pass: it is no sign of a loop. */
  #stepBack(position: Position): Position {
    this.#prefetch.clear();
    this.#seen.nextPass();
    this.#unidentified.nextPass();
    this.#totals.met = undefined;
    return this.#continuity.stepBack(position);
  }

  /** Hands out all but the last part of a page. */
  async *#read(position: Position): AsyncGenerator<Batch, PageOutcome> {
    let tally = noRecords;
    let first: ScannedRecord | undefined;
    let isFirst = true;
    try {
      for await (const part of this.#prefetch.take(position)) {
        if (isFirst && this.#probes.isIgnored(position, part.leads)) return { kind: 'ignored' };
        if (isFirst && !(await this.#continuity.connects(position, part.leads, this.#sizes.current))) {
          return { kind: 'moved' };
        }
        const unread = isFirst ? this.#continuity.unreadOf(position, part.leads) : part.leads;
        if (isFirst) {
          first = part.leads[0];
          if (position.style === 'start' || this.#passes.current === 'front')
            this.#continuity.notePage(position, part.leads);
        }
        isFirst = false;
        const { kept: leads, tally: added, newWithoutId } = dropKnown(unread, this.#seen, this.#unidentified);
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
    const connects = await this.#continuity.connects(position, [], this.#sizes.current);
    return connects ? { kind: 'rejected', error } : { kind: 'moved' };
  }

  #afterPage(position: Position, page: WholePage): Step {
    const { facts, tally } = page;
    const totals = this.#totals;
    this.#guard.countRecords(facts.count, (this.#stats.pages += 1));
    if (page.leads.length > 0) this.#continuity.noteProgress();
    this.#passes.noteNews(page.leads.length);
    totals.count(tally);
    const size = this.#sizes.current;
    if (position.style === 'start') {
      totals.repeated = tally.repeated;
      this.#probes.noteFirst(page, size);
    }
    const step = this.#decider.afterPage(position, page, size, totals);
    this.#stats.total = totals.last;
    if (this.#passes.current === 'front' && this.#continuity.isOldFront(page.leads.length === 0)) {
      return { kind: 'end', completion: complete('nothing-behind') };
    }
    const next =
      step.kind === 'probe' && position.style === 'start' && this.#probes.second
        ? go(this.#probes.second)
        : step;
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
    this.#prefetch.requestAhead(following, facts.count, this.#stats.total, this.#options);
    return go(following);
  }

  async #probe(reason: ProbeReason): Promise<Step> {
    const found = await this.#probes.run(reason);
    const { count, size } = this.#probes.first;
    if (found.kind === 'next' && this.#probes.second !== undefined) {
      return this.#goBehindFirst(this.#probes.second, count);
    }
    if (found.kind !== 'no-position') return { kind: 'end', completion: complete('nothing-behind') };
    this.#isNumbered = false;
    const end = { count, size, honoursLimit: found.honoursLimit, hasMore: reason.kind === 'behind-id' };
    return settleNoPosition(end, this.#totals, this.#isFiltered, this.#service.messages);
  }

  #goBehindFirst(position: Position, count: number): Step {
    this.#decider.noteHonoured();
    this.#guard.reset();
    this.#isNumbered ||= numberOf(position) !== undefined;
    this.#continuity.notePageLength(count);
    this.#continuity.verifies = this.#totals.last === undefined;
    return go(position);
  }

  /** The walk has come to an end: whether that is all, or the list, or its front, has to be read again. */
  #settle(completion: Completion): Step {
    const settled = settlePass(completion, {
      totals: this.#totals,
      isFiltered: this.#isFiltered,
      isNumbered: this.#isNumbered,
      passes: this.#passes,
      continuity: this.#continuity,
    });
    if (settled.kind === 'end') return settled;
    this.#passes.begin(settled.kind === 'read-again' ? 'again' : 'front', this.#continuity.gaps);
    this.#seen.nextPass();
    this.#unidentified.nextPass();
    this.#continuity.beginPass(true);
    this.#decider.beginPass();
    this.#guard.reset();
    this.#prefetch.clear();
    this.#totals = new Totals();
    return go(start);
  }
}
