import { DataError } from '../../errors.ts';
import { IdSet } from '../../lead/id-set.ts';
import type { Service } from '../client/service.ts';
import { nextPageOf } from '../pagination/next-page.ts';
import { NullNext } from '../pagination/null-next.ts';
import type { PageFacts } from '../pagination/page-facts.ts';
import { PaginationProbe } from '../pagination/pagination-probe.ts';
import { keyOf, type Position } from '../pagination/position.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import { addTallies, dropKnown, type PageTally } from './dedupe.ts';
import { DriftDetector } from './drift-detector.ts';
import { fetchPage } from './fetch/fetch-page.ts';
import { LoopGuard, noNewLead } from './loop-guard.ts';
import { markOf } from './page-mark.ts';
import type { PageOutcome } from './page-outcome.ts';
import { PageSizes } from './fetch/page-sizes.ts';
import { pageUrl } from './fetch/page-url.ts';
import { predict, Prefetch } from './fetch/prefetch.ts';
import { SilentEnd } from './silent-end.ts';
import { noteOtherStatus } from './status-note.ts';
import type { Batch, ListingOptions, ListingStats } from './types.ts';

const nothing: PageTally = { identified: 0, fresh: 0, repeated: 0, withoutId: 0 };

/** Reads page after page: one outcome a page, and from it the next position and the statistics. */
export class Walker {
  readonly #service: Service;
  readonly #params: RequestParams;
  readonly #options: ListingOptions;
  readonly #stats: ListingStats;
  readonly #seen: IdSet;
  readonly #prefetch: Prefetch;
  readonly #guard = new LoopGuard();
  readonly #drift: DriftDetector;
  readonly #probe = new PaginationProbe();
  readonly #silentEnd: SilentEnd;
  readonly #nullNext: NullNext;
  readonly #sizes: PageSizes;
  /** Different records met; undefined when the walk began in the middle. */
  #walked: number | undefined;
  /** Records on the longest page and on the one before: a page shorter than others may be the last. */
  #longest = 0;
  #previous: { readonly count: number; readonly mark: string; readonly idle: boolean } | undefined;

  constructor(
    service: Service,
    params: RequestParams,
    options: ListingOptions,
    stats: ListingStats,
    signal: AbortSignal,
  ) {
    const { query, from } = options;
    this.#service = service;
    this.#params = params;
    this.#options = options;
    this.#stats = stats;
    this.#seen = options.seen ?? new IdSet();
    this.#seen.nextPass();
    const size = options.pageSize ?? params.pageSize ?? from?.size;
    this.#sizes = new PageSizes(size, params.limit !== undefined);
    this.#walked = from === undefined || from.style === 'start' ? 0 : undefined;
    const isFiltered = query.status !== undefined || query.categories?.length === 1;
    this.#nullNext = new NullNext(isFiltered, from);
    this.#silentEnd = new SilentEnd(service.messages, isFiltered);
    this.#drift = new DriftDetector(this.#seen, params.firstPage);
    this.#prefetch = new Prefetch((position) =>
      fetchPage(service, params.items, pageUrl(params, query, this.#sizes.current, position), stats, signal),
    );
  }

  async *run(): AsyncGenerator<Batch, void, undefined> {
    let position: Position | undefined = this.#drift.startAt(this.#options.from ?? { style: 'start' });
    while (position !== undefined) {
      const here: Position = position;
      this.#guard.enter(keyOf(here));
      const outcome: PageOutcome = yield* this.#read(here);
      if (outcome.kind === 'moved' || outcome.kind === 'size-rejected') {
        this.#guard.reset();
        if (outcome.kind === 'moved') position = this.#stepBack(here);
        continue;
      }
      const next: Position | undefined =
        outcome.kind === 'page' ? this.#following(here, outcome) : this.#afterProbe(here);
      const leads = outcome.kind === 'page' ? outcome.leads : [];
      if (outcome.kind === 'page' && next !== undefined) this.#requestAhead(next, outcome.facts);
      if (next === undefined) this.#drift.judgeEnd(this.#options.query, here, this.#walked);
      this.#stats.leads += leads.length;
      this.#stats.restarts = this.#drift.restarts;
      this.#stats.shifted = this.#drift.shifted;
      // A probe is no place to resume from: it may bring nothing.
      const proven = next !== undefined && !this.#probe.isProbe(next) ? next : undefined;
      yield { leads, next: proven, last: next === undefined };
      position = next;
    }
  }

  /** What is read again from here on was met in an earlier pass: it is no sign of a loop. */
  #stepBack(position: Position): Position {
    this.#prefetch.clear();
    this.#seen.nextPass();
    this.#walked = undefined;
    return this.#drift.stepBack(position);
  }

  /** Hands out all but the last part of a page. */
  async *#read(position: Position): AsyncGenerator<Batch, PageOutcome> {
    let tally = nothing;
    let isFirst = true;
    try {
      for await (const part of this.#prefetch.take(position)) {
        if (isFirst && this.#drift.missesRecords(position, part.leads)) return { kind: 'moved' };
        const unread = isFirst ? this.#drift.unreadOf(position, part.leads) : part.leads;
        isFirst = false;
        const { kept: leads, tally: added } = dropKnown(unread, this.#seen);
        // An attempt that broke off has sent some of these already: the service did not repeat them.
        tally = addTallies(tally, part.again ? { ...added, fresh: added.fresh + added.repeated } : added);
        if (!part.again) this.#stats.duplicates += added.repeated;
        this.#stats.withoutId += added.withoutId;
        noteOtherStatus(this.#service, this.#options.query.status, leads);
        if (part.facts !== undefined) return { kind: 'page', facts: part.facts, leads, tally };
        this.#stats.leads += leads.length;
        yield { leads, next: undefined, last: false };
      }
    } catch (error) {
      const outcome = error instanceof DataError && isFirst ? this.#rejected(position, error) : undefined;
      if (outcome === undefined) throw error;
      return outcome;
    }
    throw new Error('a page ended without an end');
  }

  #rejected(position: Position, error: DataError): PageOutcome | undefined {
    if (position.style === 'start' && this.#sizes.fallBack(error)) return { kind: 'size-rejected' };
    if (this.#probe.isProbe(position) && error.status !== undefined) return { kind: 'past-the-end' };
    const isBehind = error.status === 404 && position.style === 'page' && (this.#previous?.count ?? 0) > 0;
    return isBehind ? { kind: 'past-the-end' } : undefined;
  }

  #following(position: Position, page: Extract<PageOutcome, { kind: 'page' }>): Position | undefined {
    const next = this.#nextAfter(position, page);
    return next && { ...next, size: this.#sizes.current };
  }

  #nextAfter(
    position: Position,
    { facts, leads, tally }: Extract<PageOutcome, { kind: 'page' }>,
  ): Position | undefined {
    const { count } = facts;
    this.#stats.pages += 1;
    this.#guard.countRecords(count, this.#stats.pages);
    if (this.#walked !== undefined) this.#walked += tally.fresh + tally.withoutId;
    const previous = this.#previous;
    const mark = count === 0 || tally.identified > 0 ? '' : markOf(leads);
    const nothingNew =
      (tally.identified > 0 && tally.fresh === 0 && leads.length === 0) ||
      (mark !== '' && previous?.mark === mark);
    this.#previous = { count, mark, idle: nothingNew };
    const wasShortBefore = previous !== undefined && previous.count < this.#longest;
    const isShort = count < this.#longest;
    // Without what the page repeats of others or of itself: that makes no page of the rest short.
    this.#longest = Math.max(this.#longest, count - tally.repeated);
    const next = nextPageOf(this.#params, position, facts, this.#walked, this.#nullNext);
    this.#drift.noteTotal(next.total);
    this.#stats.total = this.#drift.total;
    if (this.#probe.isProbe(position) && (nothingNew || count === 0 || tally.fresh < tally.repeated)) {
      this.#stats.duplicates -= tally.repeated;
      return this.#afterProbe(position);
    }
    if (nothingNew && !(next.kind === 'end' && next.said === true)) {
      // Past the end, some services give their last page again.
      if (position.style === 'page' && wasShortBefore) return undefined;
      // New leads in front move known ones onto a page that would have been empty. The page behind it shows the end.
      if (isShort && previous?.idle !== true && next.kind === 'next' && isNumbered(next.position))
        return next.position;
      throw noNewLead();
    }
    if (next.kind === 'next') return next.position;
    return next.kind === 'silent' ? this.#probeAfter(position, facts, next.total) : undefined;
  }

  #probeAfter(position: Position, facts: PageFacts, total: number | undefined): Position | undefined {
    const walked = this.#walked ?? facts.count;
    const pageSize = this.#sizes.current;
    const expected = total === undefined ? undefined : this.#drift.atLeast(total);
    if (!this.#silentEnd.isDoubtful({ count: facts.count, walked, pageSize, total: expected }))
      return undefined;
    const probe = this.#probe.start(this.#params, position, facts, total);
    if (probe === undefined) this.#silentEnd.report({ count: facts.count, walked, pageSize, total });
    return probe;
  }

  /** A probe brought nothing: another one may; undefined at an ordinary end. */
  #afterProbe(position: Position): Position | undefined {
    if (!this.#probe.isProbe(position)) return undefined;
    const pageSize = this.#sizes.current;
    const { count, total } = this.#probe;
    const next = this.#probe.next();
    if (next === undefined) this.#silentEnd.report({ count, walked: this.#walked ?? count, pageSize, total });
    return next && { ...next, size: pageSize };
  }

  #requestAhead(next: Position, { count }: PageFacts): void {
    const many = this.#options.concurrency ?? 1;
    if (this.#options.prefetch === true || many > 1) this.#prefetch.request(next);
    if (many < 2) return;
    const step = next.style === 'offset' && next.after !== undefined ? count - 1 : count;
    for (const position of predict(next, step, this.#stats.total, many - 1)) this.#prefetch.request(position);
  }
}

const isNumbered = ({ style }: Position): boolean => style === 'page' || style === 'offset';
