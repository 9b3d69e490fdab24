import { DataError, KeyRejectedError, ServiceError } from '../errors.ts';
import { IdSet, Unidentified } from '../lead/id-set.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import type { Service } from './client/service.ts';
import { Doubts } from './doubts.ts';
import { fetchPage, pageUrl, type PageSource } from './fetch-page.ts';
import { IncompleteError } from './listing-types.ts';
import type { Batch, Completion, Listing, ListingOptions, ListingStats } from './listing-types.ts';
import { PageReader, PageSizes } from './page-reader.ts';
import { pagerFrom } from './pagers/choose-pager.ts';
import { overBudget, probe, unproven } from './pagers/pager.ts';
import type { Answer, PageAnswer, Pager, PageRequest, Step } from './pagers/pager.ts';
import { isCounting, start, type Position } from './pagers/position.ts';
import { requestParamsOf } from './pagers/request-params.ts';
import { Readings } from './readings.ts';

/**
 * Whether a walk that goes on where an earlier one had stopped may fail for that alone: its position has expired or was never
 * one, or what proves the list is in front of it. Where no request was answered, by `unanswered`, services say that in more
 * ways: by an answer that is no page, a refused key, or a failure of their own.
 */
export function mayHelpFromFront(error: unknown, unanswered?: Pick<Service, 'rateGate'>): boolean {
  if (error instanceof IncompleteError) return true;
  // One that asks to wait is asked for no other page meanwhile.
  if (unanswered !== undefined && unanswered.rateGate.waitMs <= 0) {
    const isFailure = error instanceof ServiceError && (error.status === 500 || error.status === 501);
    return isFailure || error instanceof DataError || error instanceof KeyRejectedError;
  }
  return (
    error instanceof DataError &&
    ((error.status ?? 0) >= 400 ||
      error.problem?.kind === 'position-read-before' ||
      error.problem?.kind === 'error-with-status-200')
  );
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

/** One walk: asks for the page that its pager names, hands out the leads, and shows the pager the answer, until it names an end. */
class Walk {
  readonly #stats: ListingStats;
  readonly #readings: Readings;
  readonly #sizes: PageSizes;
  readonly #reader: PageReader;
  readonly #doubts: Doubts;
  readonly #readsOnce: boolean;
  #pager: Pager;
  /** What is asked for after a look at the start of the list. */
  #held: Step | undefined;
  #moves = 0;
  #fruitful = 0;
  /** Empty pages of a list that only the service can count. */
  #passedOver = 0;

  constructor(source: PageSource, options: ListingOptions, stats: ListingStats) {
    const { params, service } = source;
    const { from = start, seen = new IdSet() } = options;
    this.#readsOnce = options.readsOnce === true;
    this.#stats = stats;
    this.#readings = new Readings(seen, new Unidentified(), from.style !== 'start', from.totals);
    this.#sizes = new PageSizes({
      fixed: options.pageSize ?? params.pageSize ?? from.size,
      preferred: options.preferredSize,
      // A walk that goes on stays with the size that it had: positions mean something with that only.
      isFree: params.limit !== undefined && from.style === 'start' && !this.#readsOnce,
      isGuess: params.isLimitGuessed,
    });
    const isListed = (isOne: (lead: RawLead) => boolean): Promise<boolean> =>
      listsOne(service, options, isOne);
    this.#doubts = new Doubts(source, { ...options, seen }, this.#readings, isListed);
    this.#reader = new PageReader(source, options, {
      ...{ stats, sizes: this.#sizes, readings: this.#readings },
      onLeads: (leads, isStart) => this.#doubts.meet(leads, isStart),
    });
    this.#pager = pagerFrom(params, this.#doubts.facts, from);
  }

  async *pages(): AsyncGenerator<Batch, Completion, undefined> {
    let request = this.#pager.first();
    for (;;) {
      const page = yield* this.#reader.read(request, this.#pager);
      if (page === 'again') continue;
      const { answer, leads } = page;
      if (page.bringsNew) this.#fruitful += 1;
      if (answer.kind === 'answer' && answer.facts.count === 0 && isOpaque(answer.request))
        this.#passedOver += 1;
      if (answer.kind === 'answer') this.#doubts.note(answer);
      this.#stats.leads += leads.length;
      let step: Step;
      try {
        step = await this.#following(page);
      } catch (error) {
        // Its leads are known from here on: a caller that polls on with the same ids would never get them.
        yield { leads, next: undefined, last: false };
        throw error;
      }
      this.#stats.restarts = this.#moves + this.#readings.restarts;
      if (step.kind !== 'page') {
        yield { leads, next: undefined, last: true };
        return step as Completion;
      }
      this.#reader.requestAhead(step, this.#pager);
      yield { leads, next: this.#checkpointOf(step), last: false };
      request = step;
    }
  }

  /** The next request, or the end with what speaks against it. */
  async #following({ answer }: { readonly answer: Parameters<Pager['next']>[0] }): Promise<Step> {
    let step = this.#held ?? this.#pager.next(answer);
    if (step.kind === 'turn') {
      this.#pager = step.pager;
      step = step.step;
    }
    this.#note(answer);
    if (this.#readings.isLookDue && step.kind !== 'reread' && !this.#readsOnce) {
      this.#held = step;
      return probe(start, undefined);
    }
    this.#held = undefined;
    let judged = this.#readsOnce ? step : this.#readings.judge(step, this.#pager.movement);
    if (judged === 'again')
      judged = this.#reread({ kind: 'reread', pager: this.#pager.again(), isRestart: false }, true);
    else if (judged.kind === 'reread') judged = this.#reread(judged, false);
    if (judged.kind === 'page') return overBudget(this.#requests, this.#fruitful) ?? judged;
    return this.#doubts.against(judged as Completion, answer);
  }

  #note(answer: Answer): void {
    if (answer.kind === 'rejected') {
      this.#readings.noteRejection();
      return;
    }
    if (this.#held !== undefined) this.#readings.endLook(answer);
    else if (answer.isLeft) this.#leave(answer);
    else this.#stats.duplicates += this.#readings.endPage(answer, this.#pager.movement);
    this.#stats.total = answer.hints.total ?? this.#stats.total;
  }

  /** The page does not join the one before it. */
  #leave(answer: PageAnswer): void {
    this.#readings.noteTotal(answer);
    if (this.#pager.movement === 'overlapped') this.#moves += 1;
  }

  #reread({ pager, isRestart }: Extract<Step, { readonly kind: 'reread' }>, isWhole: boolean): Step {
    if (!this.#readings.begin(isRestart, isWhole)) return unproven({ kind: 'list-kept-moving' });
    this.#reader.readAlone();
    this.#pager = pager;
    return pager.first();
  }

  get #requests(): number {
    return this.#stats.requests - this.#stats.retries - this.#passedOver;
  }

  /** Where a run that is resumed goes on: behind leads that were read once. */
  #checkpointOf({ position, isProbe }: Extract<Step, { readonly kind: 'page' }>): Position | undefined {
    if (isProbe === true || !this.#readings.isFirst || position.style === 'start') return undefined;
    const next = { ...position, size: this.#sizes.current, totals: this.#readings.totals };
    return this.#doubts.storedWith(next, this.#stats.withoutId);
  }
}

const isOpaque = ({ position }: PageRequest): boolean =>
  (position.style === 'url' || position.style === 'cursor') && !isCounting(position);

/** Whether the service lists one of these leads where it is not asked for a status or a category. */
async function listsOne(
  service: Service,
  { query: { since, until }, pageSize }: ListingOptions,
  isOne: (lead: RawLead) => boolean,
): Promise<boolean> {
  const acceptUnproven = (): void => undefined;
  for await (const { leads } of listLeads(service, { query: { since, until }, pageSize, acceptUnproven }))
    if (leads.some(isOne)) return true;
  return false;
}
