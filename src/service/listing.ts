import { DataError, type LeadsError, ServiceError } from '../errors.ts';
import type { ScannedRecord } from '../json/scanned-record.ts';
import { IdSet } from '../lead/id-set.ts';
import { isObject } from '../json/exact.ts';
import { fieldAt, parseLead, type RawLead } from '../lead/raw-lead.ts';
import type { Service } from './client/service.ts';
import { Doubts } from './doubts.ts';
import { fetchPage, type PageSource, Prefetch } from './fetch-page.ts';
import { PageSizes, pageUrl } from './page-request.ts';
import { IncompleteError } from './listing-types.ts';
import type { Batch, Completion, Listing, ListingOptions, ListingStats } from './listing-types.ts';
import { pagerFrom } from './pagers/choose-pager.ts';
import { hintsOf } from './pagers/hints.ts';
import { listKeptMoving, probe, rejectsPosition, unproven } from './pagers/pager.ts';
import type { Pager, PageRequest, PagerAnswer, PagerStep } from './pagers/pager.ts';
import { isCounting, start, type Position } from './pagers/position.ts';
import { statusFieldsOf } from './pagers/names.ts';
import { requestParamsOf } from './pagers/request-params.ts';
import { Readings } from './readings.ts';

/**
 * Every lead that the service lists for a query, page by page, each id once. Leaving the loop early aborts what is in
 * flight. Throws `IncompleteError` at the end of a walk that is not proven complete, unless `acceptUnproven` takes it;
 * also `KeyRefusedError`, `ServiceError`, `DataError` (not JSON, no leads array, a position that was read before).
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
  readonly leads: readonly ScannedRecord[];
}

/** A walk asks for the page that its pager names, gives the leads, and shows the pager the answer, until it names an end. */
class Walk {
  readonly #source: PageSource;
  readonly #options: ListingOptions;
  readonly #stats: ListingStats;
  readonly #sizes: PageSizes;
  readonly #readings: Readings;
  readonly #doubts: Doubts;
  readonly #prefetch: Prefetch;
  #concurrency: number;
  #pager: Pager;
  /** The pager's step, which waits for a look at the start of the list. */
  #waiting: PagerStep | undefined;
  #fruitful = 0;
  #emptyPages = 0;

  constructor(source: PageSource, options: ListingOptions, stats: ListingStats) {
    const { params, service } = source;
    const { from = start, seen: ids = new IdSet(), concurrency = 1 } = options;
    this.#source = source;
    this.#options = options;
    this.#stats = stats;
    this.#sizes = new PageSizes(params, options);
    this.#readings = new Readings(ids, from);
    this.#doubts = new Doubts(source, { ...options, seen: ids }, this.#readings, (isWanted) =>
      listsSome(service, options, isWanted),
    );
    this.#prefetch = new Prefetch((request) => source.open(source, request, this.#mayFail(request)));
    this.#concurrency = concurrency;
    this.#pager = pagerFrom(params, this.#doubts.facts, from);
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
        step = await this.#stepBehind(answer);
      } catch (error) {
        // Its leads are known from here on: a caller that polls with the same ids would never get them.
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

  /** Reads one page; `retry`: it is to be requested once more, with another size or because it was requested too early. */
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
      for await (const { leads: tail, isRetried, facts } of this.#prefetch.read(request)) {
        if (head === undefined) {
          const [first] = (head = tail);
          isSkipped = first !== undefined && this.#pager.accepts?.(request, first, isEarly) === false;
          if (isSkipped && isEarly) return this.#dropEarly();
        }
        if (!isSkipped) {
          this.#doubts.meet(tail, isStart);
          readings.add(tail, isRetried);
        }
        const leads = tally.kept.slice(givenCount);
        givenCount += leads.length;
        if (query.status !== undefined) noteOtherStatus(service, query.status, leads);
        if (facts === undefined) {
          stats.leads += leads.length;
          yield { leads, next: undefined, last: false };
          continue;
        }
        if (isStart && facts.count === 0 && this.#sizes.dropGuess()) return 'retry';
        if (request.isProbe !== true) stats.pages += 1;
        stats.withoutId += tally.withoutId;
        if (tally.bringsNew) this.#fruitful += 1;
        const { leadingFresh, hash } = tally;
        const fresh = !isSkipped && readings.isSamePage(tally) ? 0 : tally.fresh;
        const counts = { fresh, leadingFresh, hash, isSkipped };
        const hints = hintsOf(params, facts);
        return { answer: { kind: 'answer', request, facts, hints, head, tail, ...counts }, leads };
      }
    } catch (error) {
      if (head !== undefined) throw error;
      return this.#failed(request, error);
    }
    throw new Error('a page ended without an end');
  }

  #failed(request: PageRequest, error: unknown): ReadPage | 'retry' {
    if (!(error instanceof DataError || error instanceof ServiceError)) throw error;
    const { style } = request.position;
    if (style === 'start' && this.#sizes.fallBack(error)) {
      this.#stats.retries += 1;
      return 'retry';
    }
    if (this.#prefetch.isEarly(request)) return this.#dropEarly();
    const mayReject = this.#stats.pages > 0 || style === 'page' || style === 'offset';
    if (!mayReject || !isRejection(request, error)) throw error;
    return { answer: { kind: 'rejected', request, error }, leads: [] };
  }

  #mayFail({ position, isProbe }: PageRequest): boolean {
    return isProbe === true || (position.style === 'start' && this.#sizes.mayShrink);
  }

  #sized(request: PageRequest): PageRequest {
    const isStart = request.position.style === 'start';
    return isStart ? { ...request, limit: this.#sizes.current } : request;
  }

  /** Requests what saves time: the next page, and those after it whose places can be computed. */
  #requestAhead(request: PageRequest): void {
    if (request.isProbe === true) return;
    const isConcurrent = this.#concurrency > 1;
    if (this.#options.prefetch === true || isConcurrent) this.#prefetch.request(this.#sized(request));
    const following = (isConcurrent && this.#pager.ahead?.(request, this.#concurrency - 1)) || [];
    if (following.length > 0 && this.#pager.movement === 'counted') this.#readings.noteParallel();
    for (const early of following) this.#prefetch.request(early, true);
  }

  #dropEarly(): 'retry' {
    this.#readings.noteDropped();
    this.#readAlone();
    return 'retry';
  }

  /** Pages that were requested together have no order: from here on one follows the other. */
  #readAlone(): void {
    this.#prefetch.clear();
    this.#concurrency = 1;
  }

  async #stepBehind(answer: PagerAnswer): Promise<PageRequest | Completion> {
    const readings = this.#readings;
    let step = this.#waiting ?? this.#pager.next(answer);
    if (step.kind === 'switch') ({ pager: this.#pager, step } = step);
    this.#note(answer);
    this.#waiting = undefined;
    if (this.#options.readsOnce !== true) {
      if (readings.isLookDue && step.kind !== 'reread') {
        this.#waiting = step;
        return probe(start, undefined);
      }
      const judged = readings.judge(step, this.#pager.movement);
      step = judged === 'reread' ? this.#reread(this.#pager.restarted(), false, true) : judged;
    }
    if (step.kind === 'reread') step = this.#reread(step.pager, step.isRestart === true, false);
    if (step.kind === 'page') return this.#overBudget() ?? step;
    return this.#doubts.against(step as Completion, answer);
  }

  #note(answer: PagerAnswer): void {
    const [readings, stats] = [this.#readings, this.#stats];
    if (answer.kind === 'rejected') {
      readings.noteRejection();
      return;
    }
    const { request, facts, hints, isSkipped } = answer;
    this.#doubts.note(answer);
    if (facts.count === 0 && isOpaque(request.position)) this.#emptyPages += 1;
    if (this.#waiting !== undefined) readings.endLook(answer);
    else if (isSkipped) readings.noteTotal(answer);
    else stats.duplicates += readings.endPage(answer, this.#pager.movement);
    stats.total = hints.total ?? stats.total;
  }

  #reread(pager: Pager, isRestart: boolean, isFinished: boolean): PagerStep {
    if (!this.#readings.begin(isRestart, isFinished)) return listKeptMoving;
    this.#readAlone();
    this.#pager = pager;
    return pager.first();
  }

  #overBudget(): Completion | undefined {
    const requests = this.#stats.requests - this.#stats.retries - this.#emptyPages;
    const fruitful = this.#fruitful;
    if (requests + 1 <= 3 * fruitful + spareRequests) return undefined;
    return unproven(`${fruitful} of ${requests} requests brought new leads: the walk comes to no end`);
  }

  #checkpointOf({ position, isProbe }: PageRequest): Position | undefined {
    if (isProbe === true || !this.#readings.isFirst || position.style === 'start') return undefined;
    const next = { ...position, size: this.#sizes.current, totals: this.#readings.totals };
    return this.#doubts.storable(next, this.#stats.withoutId);
  }
}

const isRejection = ({ isProbe }: PageRequest, error: LeadsError): boolean =>
  rejectsPosition(error.status) ||
  (isProbe === true &&
    (error.status === 500 ||
      error.status === 501 ||
      (error instanceof DataError && !badRecords.includes(error.kind ?? ''))));

const badRecords = ['record-is-no-object', 'no-lead-in-element', 'member-beside-lead'];

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

/** Records looked at per page: a filter that is ignored shows soon. */
const sample = 20;

/** Says once when leads come with another status than the one that was asked for, and how to narrow here. */
function noteOtherStatus(service: Service, askedStatus: string, leads: readonly RawLead[]): void {
  for (const lead of leads.slice(0, sample)) {
    const record = parseLead(lead);
    for (const field of statusFieldsOf(service.dialect)) {
      const status = isObject(record) ? fieldAt(record, field.split('.')) : undefined;
      if (typeof status !== 'string' || status === askedStatus) continue;
      const advice = `to narrow here: ${service.front.option('where', `${field}=${askedStatus}`)}`;
      service.messages.note('status', `the service also lists leads with ${field} '${status}'; ${advice}`);
      return;
    }
  }
}
