import { DataError, type LeadsError, ServiceError } from '../errors.ts';
import type { ScannedRecord } from '../json/scanned-record.ts';
import { IdSet } from '../lead/id-set.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import { noteOtherStatus } from '../output/walk-notes.ts';
import type { Service } from './client/service.ts';
import { Completeness } from './completeness.ts';
import { fetchPage, Prefetch, type PageSource } from './fetch-page.ts';
import { PageSizes, pageUrl } from './page-request.ts';
import { IncompleteError } from './listing-types.ts';
import type { Batch, Completion, Listing, ListingOptions, ListingStats } from './listing-types.ts';
import { pagerFrom } from './pagers/choose-pager.ts';
import { hintsOf } from './pagers/hints.ts';
import { listKeptMoving, probe, rejectsPosition, unproven } from './pagers/pager.ts';
import type { DirectStep, Pager, PageRequest, PagerAnswer, Unproven } from './pagers/pager.ts';
import { isCounting, start, type Position } from './pagers/position.ts';
import { statusFieldsOf } from './pagers/names.ts';
import { requestParamsOf } from './pagers/request-params.ts';
import { Readings, type ReadingFate } from './readings.ts';

/**
 * Every lead that the service lists for a query, page by page, each id once. Leaving the loop early aborts what is in
 * flight. Throws `IncompleteError` at the end of a walk that is not proven complete, unless `acceptUnproven` takes it;
 * also `KeyRejectedError`, `ServiceError`, `DataError` (not JSON, no leads array, a position that was read before).
 */
export const listLeads = (service: Service, options: ListingOptions): Listing =>
  listPages(service, options, {
    params: requestParamsOf(service.account.baseUrl, service.dialect),
    open: (source, request, mayFail) => fetchPage(source, pageUrl(source, request), mayFail),
  });

export function listPages(
  service: Service,
  options: ListingOptions,
  { params, open }: Pick<PageSource, 'params' | 'open'>,
): Listing {
  const stats: ListingStats = {
    ...{ requests: 0, retries: 0, pages: 0, leads: 0, duplicates: 0, withoutId: 0 },
    total: undefined,
  };
  let completion: Completion | undefined;
  async function* iterate(): AsyncGenerator<Batch, void, undefined> {
    const stop = new AbortController();
    const signal = AbortSignal.any([service.signal, stop.signal]);
    try {
      const { keepsInvalid = false, query } = options;
      const source = { params: { ...params, keepsInvalid }, query, counters: stats, signal, open };
      completion = yield* new Walk({ ...source, service }, options, stats).pages();
    } finally {
      stop.abort(new DOMException('the walk has ended', 'AbortError'));
    }
    if (completion.kind === 'complete') return;
    if (options.acceptUnproven === undefined) throw new IncompleteError(completion);
    await options.acceptUnproven(completion);
  }
  return {
    stats,
    get completion() {
      return completion;
    },
    [Symbol.asyncIterator]: iterate,
  };
}

/** A walk makes at most three requests for each answer that brings a new lead, and so many more. */
const spareRequests = 50;

interface ReadPage {
  readonly answer: PagerAnswer;
  /** The new leads of the page that were not yielded yet: all of them, or those of its last part. */
  readonly leads: readonly ScannedRecord[];
}

/**
 * A walk asks for the page that its pager names, yields the new leads, and shows the pager the answer, until the pager names an
 * end. `Readings` says whether the list moved meanwhile and must be read once more; `Completeness` says whether the end is proven.
 */
class Walk {
  readonly #source: PageSource;
  readonly #options: ListingOptions;
  readonly #stats: ListingStats;
  readonly #sizes: PageSizes;
  readonly #readings: Readings;
  readonly #completeness: Completeness;
  readonly #prefetch: Prefetch;
  /** Requests in flight at once; 1 for the rest of the walk once a page that was requested early did not fit. */
  #concurrency: number;
  #pager: Pager;
  /** The pager's step, held back while the start of the list is requested once more; undefined at all other times. */
  #heldStep: DirectStep | undefined;
  #fruitfulAnswers = 0;
  /** Empty pages behind a URL or a cursor: these do not count for the budget of requests, since `NamedPager` limits them. */
  #emptyPages = 0;

  constructor(source: PageSource, options: ListingOptions, stats: ListingStats) {
    const { params, service } = source;
    const { from = start, seen: ids = new IdSet(), concurrency = 1 } = options;
    this.#source = source;
    this.#options = options;
    this.#stats = stats;
    this.#sizes = new PageSizes(params, options);
    this.#readings = new Readings(ids, from);
    this.#completeness = new Completeness(
      source,
      { ...options, from, seen: ids },
      this.#readings,
      (isWanted) => listsSome(service, options, isWanted),
    );
    this.#prefetch = new Prefetch((request) => source.open(source, request, this.#mayFail(request)));
    this.#concurrency = concurrency;
    this.#pager = pagerFrom(params, this.#completeness.facts, from);
  }

  async *pages(): AsyncGenerator<Batch, Completion, undefined> {
    let request = this.#pager.first();
    for (;;) {
      const page = yield* this.#read(this.#sized(request));
      if (page === 'retry') continue;
      const { answer, leads } = page;
      this.#stats.leads += leads.length;
      let step: PageRequest | Completion;
      try {
        step = await this.#stepAfter(answer);
      } catch (error) {
        // The ids of these leads are in `seen` already: a caller that polls with that set would never get them.
        yield { leads, next: undefined, last: false };
        throw error;
      }
      if (step.kind !== 'page') {
        yield { leads, next: undefined, last: true };
        return step;
      }
      this.#requestAhead(step);
      yield { leads, next: this.#checkpointOf(step), last: false };
      request = step;
    }
  }

  /**
   * Reads one page. A large one comes in several parts; the leads of all but the last part are yielded at once. `retry`: the page
   * is to be requested once more, with another size or because it was requested too early.
   */
  async *#read(request: PageRequest): AsyncGenerator<Batch, ReadPage | 'retry', undefined> {
    const [stats, readings] = [this.#stats, this.#readings];
    const { service, query, params } = this.#source;
    const isStart = request.position.style === 'start';
    const isEarly = this.#prefetch.isEarly(request);
    const tally = readings.beginPage();
    let head: readonly ScannedRecord[] | undefined;
    let isSkipped = false;
    let givenCount = 0;
    try {
      for await (const { leads: records, isRetried, facts } of this.#prefetch.read(request)) {
        if (head === undefined) {
          head = records;
          const [first] = records;
          isSkipped = first !== undefined && this.#pager.accepts?.(request, first, isEarly) === false;
          if (isSkipped && isEarly) return this.#dropEarly();
        }
        if (!isSkipped) {
          this.#completeness.meet(records, isStart);
          readings.add(records, isRetried);
        }
        const leads = tally.newRecords.slice(givenCount);
        givenCount += leads.length;
        if (query.status !== undefined)
          noteOtherStatus(leads, query.status, statusFieldsOf(service.dialect), service);
        // Only the last part of a page has facts.
        if (facts === undefined) {
          stats.leads += leads.length;
          yield { leads, next: undefined, last: false };
          continue;
        }
        if (isStart && facts.count === 0 && this.#sizes.dropGuess()) return 'retry';
        if (request.isProbe !== true) stats.pages += 1;
        stats.withoutId += tally.withoutId;
        if (tally.isFruitful) this.#fruitfulAnswers += 1;
        const { leadingFresh, hash } = tally;
        const fresh = !isSkipped && readings.repeatsPageBefore ? 0 : tally.fresh;
        const counts = { fresh, leadingFresh, hash, isSkipped };
        const hints = hintsOf(params, facts);
        return { answer: { kind: 'answer', request, facts, hints, head, tail: records, ...counts }, leads };
      }
    } catch (error) {
      if (head !== undefined) throw error;
      return this.#afterFailure(request, error);
    }
    throw new Error('a page ended without an end');
  }

  #afterFailure(request: PageRequest, error: unknown): ReadPage | 'retry' {
    if (!(error instanceof DataError || error instanceof ServiceError)) throw error;
    const { style } = request.position;
    if (style === 'start' && this.#sizes.fallBack(error)) {
      this.#stats.retries += 1;
      return 'retry';
    }
    if (this.#prefetch.isEarly(request)) return this.#dropEarly();
    // A failure of the very first request speaks of the path or the query, unless a resumed walk begins at a number.
    const mayBeForPosition = this.#stats.pages > 0 || style === 'page' || style === 'offset';
    if (!mayBeForPosition || !isRejection(request, error)) throw error;
    return { answer: { kind: 'rejected', request, error }, leads: [] };
  }

  #mayFail({ position, isProbe }: PageRequest): boolean {
    return isProbe === true || (position.style === 'start' && this.#sizes.mayShrink);
  }

  #sized(request: PageRequest): PageRequest {
    const isStart = request.position.style === 'start';
    return isStart ? { ...request, limit: this.#sizes.current } : request;
  }

  /** Requests the next page before it is needed, and with concurrency those after it whose positions can be computed. */
  #requestAhead(request: PageRequest): void {
    if (request.isProbe === true) return;
    const isConcurrent = this.#concurrency > 1;
    if (this.#options.prefetch === true || isConcurrent) this.#prefetch.request(this.#sized(request));
    const following = (isConcurrent && this.#pager.ahead?.(request, this.#concurrency - 1)) || [];
    if (following.length > 0 && this.#pager.movement === 'counted') this.#readings.markParallel();
    for (const early of following) this.#prefetch.request(early, true);
  }

  #dropEarly(): 'retry' {
    this.#readings.markMoved();
    this.#readAlone();
    return 'retry';
  }

  /** Pages that were requested together have no order: from here on, each is requested after the one before it was read. */
  #readAlone(): void {
    this.#prefetch.clear();
    this.#concurrency = 1;
  }

  /**
   * The pager decides first. Where records were inserted before what was read, its step is held and the start of the list is
   * requested, which may show them or be rejected. Then the readings may ask for another one, and the end may be refused.
   */
  async #stepAfter(answer: PagerAnswer): Promise<PageRequest | Completion> {
    const readings = this.#readings;
    let step = this.#heldStep ?? this.#stepOfPager(answer);
    this.#record(answer);
    this.#heldStep = undefined;
    if (this.#options.readsOnce !== true && step.kind !== 'reread') {
      if (readings.isLookDue) {
        this.#heldStep = step;
        return this.#endOfBudget() ?? probe(start, undefined);
      }
      const reviewed = readings.review(step, this.#pager.movement);
      step = reviewed === 'reread' ? this.#reread(this.#pager.restarted(), 'finished') : reviewed;
    }
    if (step.kind === 'reread')
      step = this.#reread(step.pager, step.isRestart === true ? 'discarded' : 'broken off');
    if (step.kind === 'page') return this.#endOfBudget() ?? step;
    return this.#completeness.reviewEnd(step, answer);
  }

  #stepOfPager(answer: PagerAnswer): DirectStep {
    const step = this.#pager.next(answer);
    if (step.kind !== 'switch') return step;
    this.#pager = step.pager;
    return step.step;
  }

  #record(answer: PagerAnswer): void {
    const [readings, stats] = [this.#readings, this.#stats];
    if (answer.kind === 'rejected') {
      if (this.#heldStep === undefined) readings.countRejection();
      else readings.endUselessLook();
      return;
    }
    const { request, facts, hints, isSkipped } = answer;
    this.#completeness.record(answer);
    if (facts.count === 0 && isOpaque(request.position)) this.#emptyPages += 1;
    if (this.#heldStep !== undefined) readings.endLook(answer);
    else if (isSkipped) readings.recordTotal(answer);
    else readings.endPage(answer, this.#pager.movement);
    stats.duplicates = readings.duplicates;
    stats.total = hints.total ?? stats.total;
  }

  #reread(pager: Pager, fate: ReadingFate): PageRequest | Unproven {
    if (!this.#readings.begin(fate)) return listKeptMoving;
    this.#readAlone();
    this.#pager = pager;
    return pager.first();
  }

  #endOfBudget(): Unproven | undefined {
    const requests = this.#stats.requests - this.#stats.retries - this.#emptyPages;
    const fruitful = this.#fruitfulAnswers;
    if (requests + 1 <= 3 * fruitful + spareRequests) return undefined;
    return unproven(`${fruitful} of ${requests} requests brought new leads: the walk comes to no end`);
  }

  #checkpointOf({ position, isProbe }: PageRequest): Position | undefined {
    if (isProbe === true || !this.#readings.isFirst || position.style === 'start') return undefined;
    const next = { ...position, size: this.#sizes.current, totals: this.#readings.totals };
    return this.#completeness.storable(next, this.#stats.withoutId);
  }
}

/** Whether a failure may say that there is no such position. A probe may be refused in more ways, by a failure or another document. */
function isRejection({ isProbe }: PageRequest, error: LeadsError): boolean {
  if (rejectsPosition(error.status)) return true;
  if (isProbe !== true) return false;
  const isUnforeseen = error.status === 500 || error.status === 501;
  const isNoPage = error instanceof DataError && !recordErrors.includes(error.kind ?? '');
  return isUnforeseen || isNoPage;
}

/** Kinds of errors about one record: the answer was a page of leads. */
const recordErrors = ['record-is-no-object', 'no-lead-in-element', 'member-beside-lead'];

const isOpaque = (position: Position): boolean =>
  (position.style === 'url' || position.style === 'cursor') && !isCounting(position);

/** Whether the service lists one of these leads where it is not asked for a status or a category. */
async function listsSome(
  service: Service,
  { query: { since, until }, pageSize }: ListingOptions,
  isWanted: (lead: RawLead) => boolean,
): Promise<boolean> {
  const acceptUnproven = (): void => undefined;
  for await (const { leads } of listLeads(service, { query: { since, until }, pageSize, acceptUnproven }))
    if (leads.some(isWanted)) return true;
  return false;
}
