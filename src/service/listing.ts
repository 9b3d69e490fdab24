import { DataError, KeyRejectedError, ServiceError } from '../errors.ts';
import { IdSet } from '../lead/id-set.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import type { Service } from './client/service.ts';
import { Doubts } from './doubts.ts';
import { fetchPage, pageUrl, type PageSource } from './fetch-page.ts';
import { IncompleteError } from './listing-types.ts';
import type { Batch, Completion, Listing, ListingOptions, ListingStats } from './listing-types.ts';
import { PageReader, PageSizes, type WalkParts } from './page-reader.ts';
import { pagerFrom } from './pagers/choose-pager.ts';
import { listKeptMoving, probe, unproven } from './pagers/pager.ts';
import type { Pager, PageRequest, PagerAnswer, PagerStep } from './pagers/pager.ts';
import { isCounting, start, type Position } from './pagers/position.ts';
import { requestParamsOf } from './pagers/request-params.ts';
import { Readings } from './readings.ts';

/**
 * Whether a walk that continues where an earlier one had stopped may fail for that alone: its position has expired or was never
 * one, or what proves the list is before it. Where no request was answered, by `unanswered`, services say that in more
 * ways: by an answer that is no page, a refused key, or a failure of their own.
 */
export function mayHelpFromStart(error: unknown, unanswered?: Pick<Service, 'rateGate'>): boolean {
  if (error instanceof IncompleteError) return true;
  // A service that asks to wait is asked for no other page meanwhile.
  if (unanswered !== undefined && unanswered.rateGate.waitMs <= 0) {
    const isFailure = error instanceof ServiceError && (error.status === 500 || error.status === 501);
    return isFailure || error instanceof DataError || error instanceof KeyRejectedError;
  }
  return error instanceof DataError && (error.status !== undefined || error.kind === 'position-read-before');
}

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

/** The same with another way to ask for a page. */
export function listPages(
  service: Service,
  options: ListingOptions,
  { params, open }: Pick<PageSource, 'params' | 'open'>,
): Listing {
  const stats: ListingStats = {
    ...{ requests: 0, retries: 0, pages: 0, leads: 0, duplicates: 0, withoutId: 0, restarts: 0 },
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

/** A walk asks for the page that its pager names, gives the leads, and shows the pager the answer, until it names an end. */
class Walk {
  readonly #parts: WalkParts;
  readonly #reader: PageReader;
  #pager: Pager;
  /** The pager's step, which waits for a look at the start of the list. */
  #waiting: PagerStep | undefined;
  /** Pages that did not join the one before them. */
  #skips = 0;
  /** Answers that brought a new lead. */
  #fruitful = 0;
  /** Empty pages of a list that only the service can count. */
  #emptyPages = 0;

  constructor(source: PageSource, options: ListingOptions, stats: ListingStats) {
    const { params, service } = source;
    const { from = start, seen: ids = new IdSet() } = options;
    const readings = new Readings(ids, from);
    const sizes = new PageSizes({
      fixed: options.pageSize ?? params.pageSize ?? from.size,
      preferred: options.preferredSize,
      // A walk that is resumed stays with the size that it had: positions mean something with that only.
      isFree: params.limit !== undefined && from.style === 'start' && options.readsOnce !== true,
      isGuess: params.isLimitGuessed,
    });
    const doubts = new Doubts(source, { ...options, seen: ids }, readings, (isWanted) =>
      listsSome(service, options, isWanted),
    );
    this.#parts = { source, options, stats, sizes, readings, doubts };
    this.#reader = new PageReader(this.#parts);
    this.#pager = pagerFrom(params, doubts.facts, from);
  }

  async *pages(): AsyncGenerator<Batch, Completion, undefined> {
    const { stats, readings } = this.#parts;
    let request = this.#pager.first();
    for (;;) {
      const page = yield* this.#reader.read(request, this.#pager);
      if (page === 'retry') continue;
      const { answer, leads, bringsNew } = page;
      if (bringsNew) this.#fruitful += 1;
      stats.leads += leads.length;
      let step: PageRequest | Completion;
      try {
        step = await this.#stepBehind(answer);
      } catch (error) {
        // Its leads are known from here on: a caller that polls with the same ids would never get them.
        yield { leads, next: undefined, last: false };
        throw error;
      }
      stats.restarts = this.#skips + readings.restarts;
      if (step.kind !== 'page') {
        yield { leads, next: undefined, last: true };
        return step;
      }
      this.#reader.requestAhead(step, this.#pager);
      yield { leads, next: this.#checkpointOf(step), last: false };
      request = step;
    }
  }

  /** The next request, or the end with the reasons against it. */
  async #stepBehind(answer: PagerAnswer): Promise<PageRequest | Completion> {
    const { options, readings, doubts } = this.#parts;
    let step = this.#waiting ?? this.#pager.next(answer);
    if (step.kind === 'switch') ({ pager: this.#pager, step } = step);
    this.#note(answer);
    this.#waiting = undefined;
    if (options.readsOnce !== true) {
      if (readings.isLookDue && step.kind !== 'reread') {
        this.#waiting = step;
        return probe(start, undefined);
      }
      const judged = readings.judge(step, this.#pager.movement);
      step = judged === 'reread' ? this.#reread(this.#pager.restarted(), false, true) : judged;
    }
    if (step.kind === 'reread') step = this.#reread(step.pager, step.isRestart === true, false);
    return step.kind === 'page' ? (this.#overBudget() ?? step) : doubts.against(step as Completion, answer);
  }

  #note(answer: PagerAnswer): void {
    const { readings, doubts, stats } = this.#parts;
    if (answer.kind === 'rejected') {
      readings.noteRejection();
      return;
    }
    const { request, facts, hints, isSkipped } = answer;
    doubts.note(answer);
    if (facts.count === 0 && isOpaque(request.position)) this.#emptyPages += 1;
    if (this.#waiting !== undefined) readings.endLook(answer);
    else if (!isSkipped) stats.duplicates += readings.endPage(answer, this.#pager.movement);
    else {
      readings.noteTotal(answer);
      if (this.#pager.movement === 'overlapped') this.#skips += 1;
    }
    stats.total = hints.total ?? stats.total;
  }

  #reread(pager: Pager, isRestart: boolean, isFinished: boolean): PagerStep {
    if (!this.#parts.readings.begin(isRestart, isFinished)) return listKeptMoving;
    this.#reader.readAlone();
    this.#pager = pager;
    return pager.first();
  }

  #overBudget(): Completion | undefined {
    const { stats } = this.#parts;
    const requests = stats.requests - stats.retries - this.#emptyPages;
    const fruitful = this.#fruitful;
    if (requests + 1 <= 3 * fruitful + spareRequests) return undefined;
    return unproven(`${fruitful} of ${requests} requests brought new leads: the walk comes to no end`);
  }

  /** A run that is resumed continues there: behind leads that were read once. */
  #checkpointOf({ position, isProbe }: PageRequest): Position | undefined {
    const { readings, sizes, stats, doubts } = this.#parts;
    if (isProbe === true || !readings.isFirst || position.style === 'start') return undefined;
    const next = { ...position, size: sizes.current, totals: readings.totals };
    return doubts.storable(next, stats.withoutId);
  }
}

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
