import { DataError, ServiceError, type LeadsError } from '../errors.ts';
import type { ScannedRecord } from '../json/scanner.ts';
import type { Doubts } from './doubts.ts';
import { isOverload, type PageParts, type PageSource } from './fetch-page.ts';
import type { Batch, ListingOptions, ListingStats } from './listing-types.ts';
import { rejectsPosition } from './pagers/pager.ts';
import type { Pager, PageRequest, PagerAnswer } from './pagers/pager.ts';
import { hintsOf } from './pagers/hints.ts';
import type { Readings } from './readings.ts';
import { noteOtherStatus } from './status-fields.ts';
import { positionKey } from './pagers/position.ts';

/** The parts of one walk, which share its state. */
export interface WalkParts {
  readonly source: PageSource;
  readonly options: ListingOptions;
  readonly stats: ListingStats;
  readonly sizes: PageSizes;
  readonly readings: Readings;
  readonly doubts: Doubts;
}

/** An answer, with the leads of its last part that are still to be given. */
interface ReadPage {
  readonly answer: PagerAnswer;
  readonly leads: readonly ScannedRecord[];
  readonly bringsNew: boolean;
}

/** Reads the pages of one walk, and adds their records to the reading. */
export class PageReader {
  readonly #walk: WalkParts;
  readonly #prefetch: Prefetch;
  #concurrency: number;
  #pages = 0;

  constructor(walk: WalkParts) {
    const { source, options } = walk;
    this.#walk = walk;
    this.#concurrency = options.concurrency ?? 1;
    this.#prefetch = new Prefetch((request) => source.open(source, request, this.#mayFail(request)));
  }

  /** Requests what saves time: the next page, and those after it whose places can be computed. */
  requestAhead(next: PageRequest, pager: Pager): void {
    if (next.isProbe === true) return;
    const { options, readings } = this.#walk;
    const request = this.#sized(next);
    if (options.prefetch === true || this.#concurrency > 1) this.#prefetch.request(request);
    if (this.#concurrency < 2) return;
    const following = pager.ahead?.(request, this.#concurrency - 1) ?? [];
    if (following.length > 0 && pager.movement === 'counted') readings.noteParallel();
    for (const early of following) this.#prefetch.request(early, true);
  }

  /** Reads one page; `retry`: it is to be requested once more, with another size or because it was requested too early. */
  async *read(unsized: PageRequest, pager: Pager): AsyncGenerator<Batch, ReadPage | 'retry', undefined> {
    const { source, options, stats, sizes, readings, doubts } = this.#walk;
    const request = this.#sized(unsized);
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
          isSkipped = first !== undefined && pager.accepts?.(request, first, isEarly) === false;
          if (isSkipped && isEarly) return this.#dropEarly();
        }
        if (!isSkipped) {
          doubts.meet(tail, isStart);
          readings.add(tail, isRetried);
        }
        const leads = tally.kept.slice(givenCount);
        givenCount += leads.length;
        const { status } = options.query;
        if (status !== undefined) noteOtherStatus(source.service, status, leads);
        if (facts === undefined) {
          stats.leads += leads.length;
          yield { leads, next: undefined, last: false };
          continue;
        }
        if (isStart && facts.count === 0 && sizes.dropGuess()) return 'retry';
        this.#pages += 1;
        if (request.isProbe !== true) stats.pages += 1;
        stats.withoutId += tally.withoutId;
        const { leadingFresh, hash, bringsNew } = tally;
        const fresh = !isSkipped && readings.isSamePage(tally) ? 0 : tally.fresh;
        const hints = hintsOf(source.params, facts);
        const counts = { fresh, leadingFresh, hash, isSkipped };
        return { answer: { kind: 'answer', request, facts, hints, head, tail, ...counts }, leads, bringsNew };
      }
    } catch (error) {
      return this.#failed(request, error, head === undefined);
    }
    throw new Error('a page ended without an end');
  }

  /** Whether a failure is no reason to retry for long. */
  #mayFail({ position, isProbe }: PageRequest): boolean {
    return isProbe === true || (position.style === 'start' && this.#walk.sizes.mayShrink);
  }

  #sized(request: PageRequest): PageRequest {
    const isStart = request.position.style === 'start';
    return isStart ? { ...request, limit: this.#walk.sizes.current } : request;
  }

  #dropEarly(): 'retry' {
    this.#walk.readings.noteDropped();
    this.readAlone();
    return 'retry';
  }

  /** Pages that were requested together have no order: from here on one follows the other. */
  readAlone(): void {
    this.#prefetch.clear();
    this.#concurrency = 1;
  }

  #failed(request: PageRequest, error: unknown, isBeginning: boolean): ReadPage | 'retry' {
    const isExpected = error instanceof DataError || error instanceof ServiceError;
    if (!isExpected || !isBeginning) throw error;
    const { style } = request.position;
    if (style === 'start' && this.#walk.sizes.fallBack(error)) {
      // It is no page more that is asked for.
      this.#walk.stats.retries += 1;
      return 'retry';
    }
    if (this.#prefetch.isEarly(request)) return this.#dropEarly();
    const mayReject = this.#pages > 0 || style === 'page' || style === 'offset';
    if (!mayReject || !isRejection(request, error)) throw error;
    return { answer: { kind: 'rejected', request, error }, leads: [], bringsNew: false };
  }
}

/** Some services fail over a parameter that they do not expect, or answer with something else than a page of leads. */
const isRejection = ({ isProbe }: PageRequest, error: LeadsError): boolean =>
  rejectsPosition(error.status) ||
  (isProbe === true &&
    (error.status === 500 ||
      error.status === 501 ||
      (error instanceof DataError && !badRecords.includes(error.kind ?? ''))));

const badRecords = ['record-is-no-object', 'no-lead-in-element', 'member-beside-lead'];

const keyOf = ({ position, limit }: PageRequest): string => `${positionKey(position)} ${limit ?? ''}`;

/** Pages that were requested before they are needed; they arrive at once and are used in order. */
class Prefetch {
  readonly #open: (request: PageRequest) => PageParts;
  readonly #underway = new Map<
    string,
    { readonly parts: PageParts; readonly first: ReturnType<PageParts['next']> }
  >();
  /** Pages that were requested before the page before them was read. */
  readonly #early = new Set<string>();

  constructor(open: (request: PageRequest) => PageParts) {
    this.#open = open;
  }

  /** Requests a page, unless that was done. Its failure shows only when it is read. */
  request(request: PageRequest, isEarly = false): void {
    const key = keyOf(request);
    if (this.#underway.has(key)) return;
    const parts = this.#open(request);
    const first = parts.next();
    first.catch(() => undefined);
    this.#underway.set(key, { parts, first });
    if (isEarly) this.#early.add(key);
  }

  /** Whether a page may be older than the one before it. */
  isEarly(request: PageRequest): boolean {
    return this.#early.has(keyOf(request));
  }

  async *read(request: PageRequest): PageParts {
    this.request(request);
    const key = keyOf(request);
    const page = this.#underway.get(key);
    this.#underway.delete(key);
    if (page === undefined) return;
    try {
      for (let part = await page.first; part.done !== true; part = await page.parts.next()) yield part.value;
    } finally {
      await page.parts.return();
    }
  }

  /** Forgets what is underway. */
  clear(): void {
    this.#underway.clear();
    this.#early.clear();
  }
}

/** The sizes that are sent when the user named none, the next one when the service rejects one; undefined: its default. */
const usualSizes: readonly (number | undefined)[] = [1000, 100, undefined];

interface SizeWishes {
  /** The user or the dialect names it: it is not changed. */
  readonly fixed: number | undefined;
  /** It would suit the caller. */
  readonly preferred: number | undefined;
  /** The service has a parameter for it, and another size may be tried. */
  readonly isFree: boolean;
  /** The service may take the parameter for a filter. */
  readonly isGuess: boolean;
}

/** How many leads to request a page. */
export class PageSizes {
  #candidates: readonly (number | undefined)[];
  readonly #isGuess: boolean;

  constructor({ fixed, preferred = Infinity, isFree, isGuess }: SizeWishes) {
    this.#isGuess = isGuess;
    const smaller = usualSizes.filter((size = 0) => size < preferred);
    const free = preferred === Infinity ? smaller : [preferred, ...smaller];
    this.#candidates = fixed !== undefined || !isFree ? [fixed] : free;
  }

  get current(): number | undefined {
    return this.#candidates[0];
  }

  /** Another size is left to try. */
  get mayShrink(): boolean {
    return this.#candidates.length > 1;
  }

  /** Whether the first page failed for its size, and there is another one to try. */
  fallBack(error: LeadsError): boolean {
    const isForSize = [400, 413, 414, 416, 422].includes(error.status ?? 0) || isOverload(error);
    if (!this.mayShrink || !isForSize) return false;
    this.#candidates = this.#candidates.slice(1);
    return true;
  }

  /** Whether the first page is to be read without a size: it was empty with one, which may have been a filter. */
  dropGuess(): boolean {
    if (!this.#isGuess || this.current === undefined) return false;
    this.#candidates = [undefined];
    return true;
  }
}
