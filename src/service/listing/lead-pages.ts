import { DataError, KeyRejectedError, ServiceError } from '../../errors.ts';
import type { ScannedRecord } from '../../json/scanner.ts';
import { IdSet, Unidentified } from '../../lead/id-set.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import type { Service } from '../client/service.ts';
import type { PageFacts } from '../pagination/pagination-hints.ts';
import { countOfPosition, isTellingNumber, type Position, recordBefore } from '../pagination/position.ts';
import { asksForPart, type RequestParams, requestParamsOf } from '../pagination/request-params.ts';
import type { Border } from './check-page-border.ts';
import { GapDetector } from './detect-gaps.ts';
import {
  fetchPage,
  type PagePart,
  pageUrl,
  type Peek,
  peekAt,
  Prefetch,
  recordFingerprint,
} from './fetch-page.ts';
import type { Batch, Listing, ListingOptions, ListingStats } from './listing-types.ts';
import {
  addTallies,
  dropKnown,
  noRecords,
  Passes,
  totalsFrom,
  totalsSoFar,
  ComparedReadings,
} from './passes.ts';
import { noteOtherStatus, PageCensus, statusFieldsOf } from './page-census.ts';
import { Probes } from './probes.ts';
import { type Answer, initialState, type Movement, type WalkState } from './walk-state.ts';
import { type PageEnd, type PageReader, type ReadAgain, walk } from './walk.ts';
import type { PartialReason } from '../problems.ts';
import { type Completion, IncompleteError } from './incomplete-error.ts';

const start: Position = { style: 'start' };

/** Statuses by which services reject a position. */
export const rejectsPosition = (status: number | undefined): boolean =>
  [400, 404, 410, 416, 422].includes(status ?? 0);

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

/** The pages of a listing: each lead once, and every border between two pages checked. */
class LeadPages implements PageReader<Batch> {
  /** What is known before the first answer. */
  readonly before: WalkState;
  readonly probes: Probes;
  readonly #service: Service;
  readonly #options: ListingOptions;
  readonly #stats: ListingStats;
  readonly #seen: IdSet;
  /** The pass of `seen` with which the walk begins. */
  readonly #firstPass: number;
  readonly #prefetch: Prefetch;
  readonly #gapDetector: GapDetector;
  readonly #sizes: PageSizes;
  readonly #passes = new Passes();
  readonly #readings: ComparedReadings;
  readonly #unidentified = new Unidentified();
  readonly #hasOldestBefore: () => boolean;
  readonly #meetsRunBefore: () => boolean;
  /** Whether a lead of an earlier attempt has come again. */
  #meetsAttempt = false;

  constructor(
    service: Service,
    params: RequestParams,
    options: ListingOptions,
    stats: ListingStats,
    signal: AbortSignal,
    isStillThere: (isOne: (lead: RawLead) => boolean) => Promise<boolean>,
  ) {
    const { query, from = start, before } = options;
    this.#service = service;
    this.#options = options;
    this.#stats = stats;
    this.#seen = options.seen ?? new IdSet();
    this.#seen.nextPass();
    this.#firstPass = this.#seen.pass;
    // A walk that goes on stays with the size that it had: positions mean something with that only.
    const isFree = params.limit !== undefined && from.style === 'start';
    const fixed = options.pageSize ?? params.pageSize ?? from.size;
    this.#sizes = new PageSizes(fixed, options.preferredSize, isFree, params.isLimitGuessed);
    const peek: Peek = peekAt(service, params, query, stats, signal);
    const goesBackToFront = options.goesBackToFront === true;
    // Another walk may have met them in the pages before.
    const isAsked = from.style === 'start' || goesBackToFront || from.lacksRunBefore === true;
    const overlap = isAsked ? (before?.overlap ?? []) : [];
    const { pass } = this.#seen;
    this.#readings = new ComparedReadings(this.#seen, from.style !== 'start');
    const isFiltered = query.status !== undefined || query.categories?.length === 1;
    let isRunBeforeMet = false;
    const isMet = (id: string): boolean => this.#seen.isMetSince(id, pass);
    this.#meetsRunBefore = () => (isRunBeforeMet ||= overlap.some(isMet));
    this.#hasOldestBefore = () => overlap[0] !== undefined && isMet(overlap[0]);
    this.probes = new Probes(
      params,
      peek,
      this.#seen,
      // What a filter goes by may have changed in all of them.
      async (of) => {
        const ids = new Set<string | undefined>(overlap);
        const isKnown = of === 'attempt' ? this.#isOfAttempt : ({ id }: RawLead): boolean => ids.has(id);
        const hasCome = of === 'attempt' ? this.#meetsAttempt : this.#meetsRunBefore();
        return hasCome || (isFiltered && (await isStillThere(isKnown)));
      },
    );
    const isEarly = (position: Position): boolean => this.#prefetch.isEarly(position);
    // A lead whose status changes may enter a part of the list anywhere, and pages that are requested together have no order.
    const arrivesInFront =
      !isFiltered && !asksForPart(params) && (options.concurrency ?? 1) === 1 && options.prefetch === true;
    this.#gapDetector = new GapDetector(this.#seen, peek, params.firstPage, isEarly, arrivesInFront);
    this.#prefetch = new Prefetch((position) =>
      fetchPage(service, params, pageUrl(params, query, this.#sizes.current, position), stats, signal),
    );
    const totals = totalsFrom(from.totals);
    const isCounted = options.attempt !== undefined && options.attempt.isPart !== true;
    this.before = {
      ...initialState(params, from, isFiltered, totals, {
        provenUpTo: Math.max(params.provenUpTo, before?.provenUpTo ?? 0),
        since: query.since,
        overlap: overlap.length,
        attempt: options.attempt?.size ?? 0,
        // What an attempt had of the page that it was reading comes again, and is not in `seen`.
        inFront: isCounted ? Math.min(options.attempt.size, this.#seen.size) : undefined,
      }),
      position: this.#gapDetector.startAt(from),
      goesBackToFront,
      isEndOfWays: options.onlyUsualWays === true,
      isKnownList:
        options.isKnownList === true || from.style !== 'start' || this.#seen.size > 0 || isLearnt(params),
    };
  }

  async *read(position: Position, seen: WalkState): AsyncGenerator<Batch, Answer | ReadAgain, undefined> {
    const size = this.#sizes.current;
    const { status: wanted } = this.#options.query;
    let tally = noRecords;
    let first: ScannedRecord | undefined;
    let bringsNew = false;
    let isBeginning = true;
    const isFirst = position.style === 'start';
    const census = isFirst ? new PageCensus(statusFieldsOf(this.#service.dialect)) : undefined;
    if (this.#gapDetector.isLookDue(position, size))
      await this.#gapDetector.ahead.look(position, size, seen.longest);
    const isAskedAgain = seen.newest?.kind === 'page' && seen.newest.position === position;
    const end = isAskedAgain ? undefined : this.#gapDetector.ahead.emptyAt(position);
    try {
      for await (const part of end === undefined ? this.#prefetch.take(position) : [emptyPart(end)]) {
        let { leads } = part;
        this.#gapDetector.ahead.noteOrder(leads);
        if (isBeginning) {
          if (this.probes.isIgnored(position, leads)) return { kind: 'ignored' };
          const border = await this.#gapDetector.borderOf(position, leads, size);
          if (border !== 'joined') return this.#readAgain(position, border);
          const unread = this.#gapDetector.unreadOf(position, leads);
          first = leads[0];
          leads = unread;
          this.#gapDetector.places.begin(recordBefore(position));
        }
        census?.add(part.leads);
        if (isFirst || seen.first !== undefined)
          this.#meetsAttempt ||= seen.known.attempt > 0 && part.leads.some(this.#isOfAttempt);
        if (isFirst || isTellingNumber(position)) this.#readings.note(leads);
        const unidentified = this.#unidentified.size;
        bringsNew ||= leads.some(this.#isUnmet);
        const found = dropKnown(leads, this.#seen, this.#unidentified, this.#passes);
        bringsNew ||= this.#unidentified.size > unidentified;
        const { kept, tally: added } = found;
        // An attempt that broke off has sent some of these already: the service did not repeat them.
        const repeats = part.again ? [] : found.repeats;
        const isBehind = leads.length < part.leads.length;
        const outOfPlace = this.#gapDetector.places.addPart(leads, repeats, isBehind);
        if (isBeginning) {
          const isFront = this.#passes.current === 'front';
          // What the page repeats of the one before says nothing of the front.
          const inPlace = outOfPlace === 0 ? part.leads : leads.filter((_, at) => !repeats.includes(at));
          this.#gapDetector.front.notePage(inPlace, position.style === 'start', isFront);
        }
        isBeginning = false;
        tally = addTallies(tally, part.again ? { ...added, fresh: added.fresh + added.repeated } : added);
        if (!part.again) this.#stats.duplicates += added.repeated;
        this.#stats.withoutId += found.newWithoutId;
        if (wanted !== undefined) await noteOtherStatus(this.#service, wanted, kept);
        const { facts } = part;
        if (facts !== undefined) {
          if (isFirst && facts.count === 0 && this.#sizes.dropGuess()) return readAnew;
          this.#stats.pages += 1;
          const covers = this.#gapDetector.places.end(facts.count, facts.lastId);
          const marks = {
            firstMark: recordFingerprint(first),
            lastMark: recordFingerprint(part.leads.at(-1)),
          };
          const hasOldestBefore = isFirst && this.#hasOldestBefore();
          return {
            ...{ kind: 'page', facts, covers, bringsNew, leads: kept, tally, firstId: first?.id, ...marks },
            ...{ size, isFirst, census, hasOldestBefore },
          };
        }
        this.#stats.leads += kept.length;
        yield { leads: kept, next: undefined, last: false };
      }
    } catch (error) {
      const rejected =
        error instanceof DataError && isBeginning ? await this.#rejected(position, error, seen) : undefined;
      if (rejected === undefined) throw error;
      return rejected;
    }
    throw new Error('a page ended without an end');
  }

  async #rejected(
    position: Position,
    error: DataError,
    { previous, isAnnounced }: WalkState,
  ): Promise<Answer | ReadAgain | undefined> {
    if (position.style === 'start') return this.#sizes.fallBack(error) ? readAnew : undefined;
    if (previous === undefined || !rejectsPosition(error.status)) return undefined;
    // A list that became shorter may end in front of this page.
    const border = await this.#gapDetector.borderOf(position, [], this.#sizes.current);
    if (border !== 'joined') return this.#readAgain(position, border);
    if (isAnnounced && this.#gapDetector.mayReread(position)) return this.#readAgain(position, 'known');
    return { kind: 'rejected', error };
  }

  /** A page that was requested early is read anew; another one shows that the list moved: a step back. */
  #readAgain(position: Position, border: Exclude<Border, 'joined'>): ReadAgain {
    if (this.#prefetch.dropEarly(position)) return readAnew;
    this.#prefetch.clear();
    // What is read again from here on was met in an earlier pass: it is no sign of a loop.
    this.#nextPass();
    this.#passes.noteStepBack();
    if (border === 'gap') this.#gapDetector.countFrom(this.probes.recount(position));
    return { kind: 'again', position: this.#gapDetector.stepBack(position, border), isStepBack: true };
  }

  get requests(): number {
    return this.#stats.requests - this.#stats.retries;
  }

  /** Whether the walk has not met this lead, whatever was known before it. */
  readonly #isUnmet = (lead: ScannedRecord): boolean =>
    lead.hasId && !this.#seen.isMetSince(lead.id ?? '', this.#firstPass);

  /** Met by an earlier attempt at this walk, and not by this one yet. */
  readonly #isOfAttempt = ({ id }: Pick<RawLead, 'id'>): boolean =>
    id !== undefined &&
    !this.#seen.isMetSince(id, this.#firstPass) &&
    this.#options.attempt?.has(id) === true;

  movementAt(answer: Answer): Movement {
    const [passes, gapDetector] = [this.#passes, this.#gapDetector];
    const { current: pass, isFirst: isFirstReading, isFrontRead, isFrontReadAgain } = passes;
    const isPage = answer.kind === 'page';
    if (isPage && answer.leads.length > 0) gapDetector.steps.noteNew();
    return {
      ...{ pass, isFirstReading, isFrontRead, isFrontReadAgain },
      isFrontCovered: isPage && pass === 'front' && gapDetector.front.isReadUpTo(answer.leads.length === 0),
      needsAnotherPass: passes.needsAnotherPass(gapDetector.steps.gaps, gapDetector.hasSeldomShifted),
      mayReadAgain: !passes.isOver,
      emptied: gapDetector.emptied,
      isExhausted: gapDetector.isExhausted,
      mayHavePassedOver: gapDetector.unchecked > 0 || (isFirstReading && gapDetector.hasMovedBack),
      isMetAgain: pass === 'again' && gapDetector.isStillCompared && this.#readings.meetsAllAgain,
      isShown: gapDetector.isShown || this.#readings.meetsAllAgain,
      isFrontUnknown: gapDetector.front.isUnknown && gapDetector.hasShifted,
    };
  }

  placeOf(position: Position, { newest, first, probed, totals }: WalkState): Position {
    const gapDetector = this.#gapDetector;
    if (probed?.found.kind === 'next') {
      gapDetector.notePageLength(first?.count ?? 0);
      gapDetector.verifies = totals.last === undefined;
      if (probed.found.isFirst === true && position.style === 'page') gapDetector.countFrom(position.page);
      return position;
    }
    const { facts, covers } = newest?.kind === 'page' ? newest : { facts: undefined, covers: undefined };
    gapDetector.notePageLength(facts?.count ?? 0);
    if (newest?.kind === 'page' && newest.position.style === 'start' && this.#passes.current === 'first')
      gapDetector.verifies = totals.last === undefined;
    const next: Position = {
      ...position,
      size: this.#sizes.current,
      totals: gapDetector.verifies ? undefined : totalsSoFar(totals, countOfPosition(position) !== undefined),
    };
    if (gapDetector.isLookDue(next, this.#sizes.current) || gapDetector.ahead.emptyAt(next) !== undefined)
      return next;
    const concurrency = gapDetector.canReadAhead ? this.#options.concurrency : 1;
    this.#prefetch.requestAhead(next, covers?.count ?? 0, totals.last, { ...this.#options, concurrency });
    return next;
  }

  beginPass(pass: 'again' | 'front'): void {
    this.#nextPass();
    this.#passes.begin(pass, this.#gapDetector.steps.gaps, this.#seen.pass);
    if (pass === 'again') this.#readings.begin();
    this.#gapDetector.beginPass(pass === 'front');
    this.#prefetch.clear();
  }

  handOut({ answer, totals, next, isLast, partial }: PageEnd): readonly Batch[] {
    const leads = answer?.kind === 'page' ? answer.leads : [];
    if (answer?.kind === 'page') this.#stats.total = totals.last;
    this.#stats.leads += leads.length;
    if (answer !== undefined) this.#stats.restarts = this.#gapDetector.steps.count;
    // A run that is resumed begins where something may have been passed over.
    const isOnItsWay = next !== undefined && !isLast;
    const from = (isOnItsWay ? this.#gapDetector.ahead.shownUpTo : undefined) ?? next;
    // What an answer left out is not behind it. Records without an id would come again as others.
    const { goesBackToFront = false } = this.#options;
    const mayGoBack = goesBackToFront && this.#stats.withoutId === 0;
    if (from !== undefined && partial !== undefined && mayGoBack)
      return [{ leads, next: start, last: isLast }];
    const { hasMoved } = this.#gapDetector;
    const moved = from && hasMoved ? { ...from, hasMoved } : from;
    return [{ leads, next: moved && !mayGoBack ? this.#withDoubts(moved, partial) : moved, last: isLast }];
  }

  /** What speaks against the pages up to here, for a walk that goes on and does not read them again. */
  #withDoubts(position: Position, partial: PartialReason | undefined): Position {
    if (position.style === 'start') return position;
    const lacksRunBefore = this.before.known.overlap > 0 && !this.#meetsRunBefore();
    return {
      ...position,
      ...(partial !== undefined && { partial }),
      ...(lacksRunBefore && { lacksRunBefore }),
    };
  }

  #nextPass(): void {
    this.#seen.nextPass();
    this.#unidentified.nextPass();
  }
}

/** The dialect was learnt from a list that this service gave. */
const isLearnt = ({ nextSeen, provenUpTo }: RequestParams): boolean => nextSeen || provenUpTo > 0;

const emptyPart = (facts: PageFacts): PagePart => ({ leads: [], again: false, facts });

const readAnew: ReadAgain = { kind: 'again', isStepBack: false };

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

/**
 * Every lead that the service lists for a query, page by page, each id once. Leaving the loop early aborts what is in
 * flight. Throws `IncompleteError` at the end of a walk that is not proven complete, unless `acceptUnproven` takes it;
 * also `KeyRefusedError`, `ServiceError`, `DataError` (not JSON, no leads array, a position that was read before).
 */
export function listLeads(service: Service, options: ListingOptions): Listing {
  const stats: ListingStats = {
    requests: 0,
    retries: 0,
    pages: 0,
    leads: 0,
    duplicates: 0,
    withoutId: 0,
    restarts: 0,
    total: undefined,
  };
  let completion: Completion | undefined;
  async function* iterate(): AsyncGenerator<Batch, void, undefined> {
    completion = yield* pagesOf(service, options, stats);
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

/** The walk behind `listLeads`: aborts what is in flight when it ends, however it ends. */
async function* pagesOf(
  service: Service,
  options: ListingOptions,
  stats: ListingStats,
): AsyncGenerator<Batch, Completion, undefined> {
  const stop = new AbortController();
  const params = {
    ...requestParamsOf(service.account.baseUrl, service.dialect),
    keepsInvalid: options.keepsInvalid === true,
  };
  const signal = AbortSignal.any([service.signal, stop.signal]);
  try {
    const isStillThere = (isOne: (lead: RawLead) => boolean): Promise<boolean> =>
      isListed(service, options, isOne);
    const pages = new LeadPages(service, params, options, stats, signal, isStillThere);
    return yield* walk(pages, pages.probes, pages.before, service);
  } finally {
    stop.abort(new DOMException('the walk has ended', 'AbortError'));
  }
}

/** Whether the service lists one of these leads where it is not asked for a status or a category. */
async function isListed(
  service: Service,
  { query: { since, until }, pageSize }: ListingOptions,
  isOne: (lead: RawLead) => boolean,
): Promise<boolean> {
  const acceptUnproven = (): void => undefined;
  for await (const { leads } of listLeads(service, { query: { since, until }, pageSize, acceptUnproven }))
    if (leads.some(isOne)) return true;
  return false;
}
