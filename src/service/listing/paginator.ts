import { setFlagsFromString } from 'node:v8';
import { DataError } from '../../errors.ts';
import { IdSet } from '../../lead/id-set.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import { Prefetch, keyOf, predict } from './prefetch.ts';
import { type RequestParams, requestParamsOf, pageUrl } from '../pagination/request-params.ts';
import { fetchPage, type PageFacts } from './fetch-page.ts';
import { DriftDetector } from './drift-detector.ts';
import { looksFull, noWayPast, PaginationProbe } from '../pagination/pagination-probe.ts';
import type { Batch, ListingOptions, ListingStats } from './listing.ts';
import { dropKnown, emptyTally, LoopGuard, markOf, type PageTally, stuck } from './dedupe.ts';
import type { Position } from '../pagination/position.ts';
import type { Service } from '../client/service.ts';
import { noteOtherStatus } from './status-note.ts';
import { NullNext } from '../pagination/null-next.ts';
import { nextPageOf } from '../pagination/next-page.ts';

/** Asked for when nobody says how many, from the first on while the service refuses; undefined: its own default. */
const usualSizes: readonly (number | undefined)[] = [1000, 100, undefined];

/** The last part of a page and what it told; or that it has to be read elsewhere, or anew, or that there is none. */
type Read =
  | { readonly kind: 'whole'; readonly facts: PageFacts; readonly leads: ScannedRecord[] }
  | { readonly kind: 'moved' | 'again' | 'past-the-end' };

/** The walk behind `leadPages`. */
export async function* paginate(
  service: Service,
  options: ListingOptions,
  stats: ListingStats,
): AsyncGenerator<Batch, void, undefined> {
  // The young generation would grow to 48 MB with what dies at once anyway, page after page: a third of the memory of
  // a long walk, for a twentieth of its time.
  setFlagsFromString('--semi-space-growth-factor=1');
  const stop = new AbortController();
  const asking = requestParamsOf(service.account.baseUrl, service.dialect);
  try {
    yield* new Walker(service, asking, options, stats, AbortSignal.any([service.signal, stop.signal])).run();
  } finally {
    stop.abort(new DOMException('the walk has ended', 'AbortError'));
  }
}

class Walker {
  readonly #service: Service;
  readonly #asking: RequestParams;
  readonly #options: ListingOptions;
  readonly #stats: ListingStats;
  readonly #seen: IdSet;
  readonly #ahead: Prefetch;
  readonly #guard = new LoopGuard();
  readonly #footing: DriftDetector;
  readonly #probe = new PaginationProbe();
  readonly #unused: NullNext;
  readonly #sizes: (number | undefined)[];
  /** Different records met; undefined when the walk began in the middle. */
  #walked: number | undefined;
  /** Records on the longest page and on the one before: a page shorter than others may be the last. */
  #longest = 0;
  #previous: { readonly count: number; readonly mark: string; readonly idle: boolean } | undefined;

  constructor(
    service: Service,
    asking: RequestParams,
    options: ListingOptions,
    stats: ListingStats,
    signal: AbortSignal,
  ) {
    this.#service = service;
    this.#asking = asking;
    this.#options = options;
    this.#stats = stats;
    this.#seen = options.seen ?? new IdSet();
    this.#seen.nextPass();
    const size = options.pageSize ?? asking.pageSize ?? options.from?.size;
    this.#sizes = size === undefined && asking.limit !== undefined ? [...usualSizes] : [size];
    this.#walked = options.from === undefined || options.from.style === 'start' ? 0 : undefined;
    this.#unused = new NullNext(this.#isFiltered(), options.from);
    this.#footing = new DriftDetector(this.#seen, stats, asking.firstPage);
    this.#ahead = new Prefetch((at) =>
      fetchPage(service, asking, pageUrl(asking, options.query, this.#sizes[0], at), stats, signal),
    );
  }

  async *run(): AsyncGenerator<Batch, void, undefined> {
    let at = this.#footing.begin(this.#options.from ?? { style: 'start' }) as Position | undefined;
    while (at !== undefined) {
      this.#guard.enter(keyOf(at));
      const tally = emptyTally();
      const page: Read = yield* this.#page(at, tally);
      if (page.kind === 'moved' || page.kind === 'again') {
        this.#guard.reset();
        if (page.kind === 'moved') at = this.#stepBack(at);
        continue;
      }
      const [next, leads] = page.kind === 'whole' ? this.#turn(at, page, tally) : [this.#inVain(at), []];
      if (next === undefined) this.#footing.judge(this.#options.query, at, this.#walked);
      // A page that is only tried for is no place to go on from: who resumes there does not know that it may be in vain.
      const sure = next !== undefined && !this.#probe.isAt(next) ? next : undefined;
      yield { leads, next: sure, last: next === undefined };
      at = next;
    }
  }

  /** What is read again from here on was met in an earlier pass: it is no sign of a loop. */
  #stepBack(at: Position): Position {
    this.#ahead.clear();
    this.#seen.nextPass();
    this.#walked = undefined;
    return this.#footing.stepBack(at);
  }

  /** A page is complete: finds the next one, and asks for it where that saves time. */
  #turn(
    at: Position,
    { facts, leads }: Extract<Read, { kind: 'whole' }>,
    tally: PageTally,
  ): [Position | undefined, readonly ScannedRecord[]] {
    const on = this.#next(at, facts, tally, leads);
    const next = on === undefined ? undefined : { ...on, size: this.#sizes[0] };
    if (next !== undefined) this.#askAhead(next, facts);
    this.#stats.leads += leads.length;
    return [next, leads];
  }

  /** Hands out all but the last part of a page, and gives that one back. */
  async *#page(at: Position, tally: PageTally): AsyncGenerator<Batch, Read> {
    let begun = false;
    try {
      for await (const part of this.#ahead.take(at)) {
        if (!begun && this.#footing.lost(at, part.leads)) return { kind: 'moved' };
        const records = begun ? part.leads : this.#footing.after(at, part.leads);
        begun = true;
        const before = { ...tally };
        const leads = dropKnown(records, this.#seen, tally);
        // An attempt that broke off has sent some of these already: the service did not repeat them.
        if (part.again) tally.fresh += tally.repeated - before.repeated;
        else this.#stats.duplicates += tally.repeated - before.repeated;
        this.#stats.withoutId += tally.withoutId - before.withoutId;
        noteOtherStatus(this.#service, this.#options.query.status, leads);
        if (part.facts !== undefined) return { kind: 'whole', facts: part.facts, leads };
        this.#stats.leads += leads.length;
        yield { leads, next: undefined, last: false };
      }
    } catch (error) {
      if (!(error instanceof DataError) || begun) throw error;
      if (this.#isSizeRefused(at, error)) return { kind: 'again' };
      if (this.#probe.isAt(at) && error.status !== undefined) return { kind: 'past-the-end' };
      if (error.status === 404 && at.style === 'page' && (this.#previous?.count ?? 0) > 0)
        return { kind: 'past-the-end' };
      throw error;
    }
    throw new Error('a page ended without an end');
  }

  /** A service may refuse our guess of a page size; one that was given stands. */
  #isSizeRefused(at: Position, error: DataError): boolean {
    if (this.#sizes.length === 1 || at.style !== 'start') return false;
    if (![400, 413, 414, 416, 422].includes(error.status ?? 0)) return false;
    this.#sizes.shift();
    return true;
  }

  #next(
    at: Position,
    facts: PageFacts,
    tally: PageTally,
    leads: readonly ScannedRecord[],
  ): Position | undefined {
    const { count } = facts;
    this.#stats.pages += 1;
    this.#guard.count(count, this.#stats);
    if (this.#walked !== undefined) this.#walked += tally.fresh + tally.withoutId;
    const previous = this.#previous;
    const mark = count === 0 || tally.identified > 0 ? '' : markOf(leads);
    const nothingNew =
      (tally.identified > 0 && tally.fresh === 0 && leads.length === 0) ||
      (mark !== '' && previous?.mark === mark);
    this.#previous = { count, mark, idle: nothingNew };
    const shortBefore = previous !== undefined && previous.count < this.#longest;
    const short = count < this.#longest;
    // Without what the page repeats of others or of itself: that makes no page of the rest short.
    this.#longest = Math.max(this.#longest, count - tally.repeated);
    const way = nextPageOf(this.#asking, at, facts, this.#walked, this.#unused);
    this.#footing.hear(way.total);
    if (this.#probe.isAt(at) && (nothingNew || count === 0 || tally.fresh < tally.repeated)) {
      this.#stats.duplicates -= tally.repeated;
      return this.#inVain(at);
    }
    if (nothingNew && !(way.kind === 'end' && way.said === true)) {
      // Past the end, some services give their last page again.
      if (at.style === 'page' && shortBefore) return undefined;
      // New leads in front move known ones onto a page that would have been empty. The page behind it shows the end.
      if (short && previous?.idle !== true && way.kind === 'next' && isNumbered(way.at)) return way.at;
      throw stuck();
    }
    if (way.kind === 'next') return way.at;
    if (way.kind === 'silent') return this.#silent(at, facts, way.total);
    return undefined;
  }

  #silent(at: Position, facts: PageFacts, total: number | undefined): Position | undefined {
    const { count } = facts;
    const more =
      total === undefined
        ? looksFull(count, this.#sizes[0])
        : (this.#walked ?? count) < this.#footing.atLeast(total);
    if (!more) return undefined;
    const probed = this.#probe.begin(this.#asking, at, facts, total);
    if (probed === undefined) this.#sayNoWay(count, total);
    return probed;
  }

  /** A page that was asked for on suspicion brought nothing: another one may; undefined at an ordinary end. */
  #inVain(at: Position): Position | undefined {
    if (!this.#probe.isAt(at)) return undefined;
    const next = this.#probe.next();
    if (next === undefined) this.#sayNoWay(this.#probe.count, this.#probe.total);
    return next && { ...next, size: this.#sizes[0] };
  }

  #sayNoWay(count: number, total: number | undefined): void {
    if (total !== undefined) {
      this.#noWayPast(count, total);
      return;
    }
    this.#service.messages.note(
      'silent',
      `${count} leads came and the answer shows no way on: there may be more (see api.pagination)`,
    );
  }

  /** A total may count what a filter leaves out: then a page that does not look cut is taken for the whole. */
  #noWayPast(count: number, total: number): void {
    const walked = this.#walked ?? count;
    if (!this.#isFiltered() || looksFull(count, this.#sizes[0])) throw noWayPast(walked, total);
    this.#service.messages.note(
      'silent',
      `the service counts ${total} leads and gave ${walked}: its total may ignore the filter`,
    );
  }

  /** Whether the service is asked for some of its leads only. */
  #isFiltered(): boolean {
    const { status, categories = [] } = this.#options.query;
    return status !== undefined || categories.length === 1;
  }

  #askAhead(next: Position, { count }: PageFacts): void {
    const many = this.#options.concurrency ?? 1;
    if (this.#options.prefetch === true || many > 1) this.#ahead.ask(next);
    if (many < 2) return;
    const step = next.style === 'offset' && next.after !== undefined ? count - 1 : count;
    for (const at of predict(next, step, this.#stats.total, many - 1)) this.#ahead.ask(at);
  }
}

const isNumbered = ({ style }: Position): boolean => style === 'page' || style === 'offset';
