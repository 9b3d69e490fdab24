import { DataError, ServiceError, type LeadsError } from '../errors.ts';
import type { ScannedRecord } from '../json/scanner.ts';
import { isOverload, type PagePart, type PageParts, type PageSource } from './fetch-page.ts';
import type { Batch, ListingOptions, ListingStats } from './listing-types.ts';
import { rejectsPosition } from './pagers/pager.ts';
import type { Answer, PageAnswer, Pager, PageRequest } from './pagers/pager.ts';
import { hintsOf } from './pagers/hints.ts';
import type { PageTally, Readings } from './readings.ts';
import { noteOtherStatus } from './status-fields.ts';
import { positionKey } from './pagers/position.ts';

/** An answer, with the leads of its last part that are to be handed out. */
export interface ReadPage {
  readonly answer: Answer;
  readonly leads: readonly ScannedRecord[];
  readonly bringsNew: boolean;
}

interface ReaderParts {
  readonly stats: ListingStats;
  readonly sizes: PageSizes;
  readonly readings: Readings;
  /** Is shown the leads before they count as met. */
  readonly onLeads: (leads: readonly ScannedRecord[], isStart: boolean) => void;
}

/** Reads the pages of one walk, and takes their records. */
export class PageReader {
  readonly #source: PageSource;
  readonly #options: ListingOptions;
  readonly #stats: ListingStats;
  readonly #sizes: PageSizes;
  readonly #readings: Readings;
  readonly #prefetch: Prefetch;
  readonly #onLeads: ReaderParts['onLeads'];
  #concurrency: number;
  #pages = 0;

  constructor(source: PageSource, options: ListingOptions, { stats, sizes, readings, onLeads }: ReaderParts) {
    this.#source = source;
    this.#options = options;
    this.#stats = stats;
    this.#sizes = sizes;
    this.#readings = readings;
    this.#onLeads = onLeads;
    this.#concurrency = options.concurrency ?? 1;
    this.#prefetch = new Prefetch((request) => source.open(source, request, this.#mayFail(request)));
  }

  /** Requests what saves time: the next page, and those after it whose places can be computed. */
  requestAhead(next: PageRequest, pager: Pager): void {
    if (next.isProbe === true) return;
    const request = this.#sized(next);
    if (this.#options.prefetch === true || this.#concurrency > 1) this.#prefetch.request(request);
    if (this.#concurrency < 2) return;
    const following = pager.ahead?.(request, this.#concurrency - 1) ?? [];
    if (following.length > 0 && pager.movement === 'counted') this.#readings.noteParallel();
    for (const early of following) this.#prefetch.request(early, true);
  }

  /** One page; `again`: it is to be read anew, with another size or because it was requested too early. */
  async *read(asked: PageRequest, pager: Pager): AsyncGenerator<Batch, ReadPage | 'again', undefined> {
    const request = this.#sized(asked);
    const { status: wanted } = this.#options.query;
    const isEarly = this.#prefetch.isEarly(request);
    const isStart = request.position.style === 'start';
    let head: readonly ScannedRecord[] = [];
    let isLeft = false;
    let [isBeginning, handedOut] = [true, 0];
    let tally: PageTally | undefined;
    this.#readings.beginPage();
    try {
      for await (const part of this.#prefetch.take(request)) {
        if (isBeginning) {
          head = part.leads;
          const [first] = head;
          isLeft = first !== undefined && pager.takes?.(request, first, isEarly) === false;
          if (isLeft && isEarly) return this.#dropEarly();
        }
        isBeginning = false;
        if (!isLeft) {
          this.#onLeads(part.leads, isStart);
          tally = this.#readings.add(part.leads, part.again);
        }
        const leads = tally?.kept.slice(handedOut) ?? [];
        handedOut += leads.length;
        if (wanted !== undefined) await noteOtherStatus(this.#source.service, wanted, leads);
        const { facts } = part;
        if (facts === undefined) {
          this.#stats.leads += leads.length;
          yield { leads, next: undefined, last: false };
          continue;
        }
        if (isStart && facts.count === 0 && this.#sizes.dropGuess()) return 'again';
        return this.#whole({ request, part, head, isLeft }, tally, leads);
      }
    } catch (error) {
      return this.#failed(request, error, isBeginning);
    }
    throw new Error('a page ended without an end');
  }

  #whole(
    {
      request,
      part,
      head,
      isLeft,
    }: { request: PageRequest; part: PagePart; head: PageAnswer['head']; isLeft: boolean },
    tally: PageTally | undefined,
    leads: readonly ScannedRecord[],
  ): ReadPage {
    const { facts } = part;
    if (facts === undefined) throw new Error('a page without facts is no whole one');
    this.#pages += 1;
    if (request.isProbe !== true) this.#stats.pages += 1;
    this.#stats.withoutId += tally?.withoutId ?? 0;
    const { leadingFresh = 0, leadingKnown = 0, hash = 0, bringsNew = false } = tally ?? {};
    const isAgain = tally !== undefined && this.#readings.isSamePage(tally);
    const fresh = isAgain ? 0 : (tally?.fresh ?? 0);
    const answer: PageAnswer = {
      ...{ kind: 'answer', request, facts, hints: hintsOf(this.#source.params, facts), head },
      ...{ tail: part.leads, fresh, leadingFresh, leadingKnown, hash, isLeft },
    };
    return { answer, leads, bringsNew };
  }

  /** Whether a failure is no reason to try again for long. */
  #mayFail({ position, isProbe }: PageRequest): boolean {
    return isProbe === true || (position.style === 'start' && this.#sizes.mayShrink);
  }

  #sized(request: PageRequest): PageRequest {
    const isStart = request.position.style === 'start';
    return isStart ? { ...request, limit: this.#sizes.current } : request;
  }

  #dropEarly(): 'again' {
    this.#readings.noteDropped();
    return this.readAlone();
  }

  /** Pages that were requested together have no order: from here on one follows the other. */
  readAlone(): 'again' {
    this.#prefetch.clear();
    this.#concurrency = 1;
    return 'again';
  }

  #failed(request: PageRequest, error: unknown, isBeginning: boolean): ReadPage | 'again' {
    const isExpected = error instanceof DataError || error instanceof ServiceError;
    if (!isExpected || !isBeginning) throw error;
    if (request.position.style === 'start' && this.#sizes.fallBack(error)) {
      // It is no page more that is asked for.
      this.#stats.retries += 1;
      return 'again';
    }
    if (this.#prefetch.isEarly(request)) return this.#dropEarly();
    const isNumber = ['page', 'offset'].includes(request.position.style);
    if ((this.#pages === 0 && !isNumber) || !isRejection(request, error)) throw error;
    return { answer: { kind: 'rejected', request, error }, leads: [], bringsNew: false };
  }
}

/** Some services fail over a parameter that they do not expect. */
const isRejection = ({ isProbe }: PageRequest, error: LeadsError): boolean =>
  rejectsPosition(error.status) ||
  (isProbe === true && (error.status === 500 || error.status === 501 || isOtherAnswer(error)));

/** Something else than a page of leads. */
const isOtherAnswer = (error: LeadsError): boolean =>
  error instanceof DataError &&
  !['record-is-no-object', 'no-lead-in-element', 'member-beside-lead'].includes(error.problem?.kind ?? '');

const keyOf = ({ position, limit }: PageRequest): string => `${positionKey(position)} ${limit ?? ''}`;

/** Pages that were requested before they are needed; they arrive at once and are used in order. */
export class Prefetch {
  readonly #open: (request: PageRequest) => PageParts;
  readonly #underway = new Map<
    string,
    { readonly pages: PageParts; readonly first: ReturnType<PageParts['next']> }
  >();
  /** Pages that were requested before the one in front of them was read. */
  readonly #early = new Set<string>();

  constructor(open: (request: PageRequest) => PageParts) {
    this.#open = open;
  }

  /** Requests a page, unless that was done. Its failure shows only when it is taken. */
  request(request: PageRequest, isEarly = false): void {
    const key = keyOf(request);
    if (this.#underway.has(key)) return;
    const pages = this.#open(request);
    const first = pages.next();
    first.catch(() => undefined);
    this.#underway.set(key, { pages, first });
    if (isEarly) this.#early.add(key);
  }

  /** Whether a page may be older than the one in front of it. */
  isEarly(request: PageRequest): boolean {
    return this.#early.has(keyOf(request));
  }

  /** The parts of the page. */
  async *take(request: PageRequest): PageParts {
    this.request(request);
    const key = keyOf(request);
    const taken = this.#underway.get(key);
    this.#underway.delete(key);
    if (taken === undefined) return;
    try {
      for (let part = await taken.first; part.done !== true; part = await taken.pages.next())
        yield part.value;
    } finally {
      await taken.pages.return();
    }
  }

  /** Forgets what is underway. */
  clear(): void {
    this.#underway.clear();
    this.#early.clear();
  }
}

/** Sent when the user named no size, the next one when the service rejects one; undefined: the service's default. */
const usualSizes: readonly (number | undefined)[] = [1000, 100, undefined];

interface SizeWishes {
  /** What the user or the dialect says: that stands. */
  readonly fixed: number | undefined;
  /** What would suit the caller. */
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

  constructor({ fixed, preferred, isFree, isGuess }: SizeWishes) {
    this.#isGuess = isGuess;
    const usual = usualSizes.filter((one) => one === undefined || preferred === undefined || one < preferred);
    if (fixed !== undefined || !isFree) this.#candidates = [fixed];
    else this.#candidates = preferred === undefined ? usual : [preferred, ...usual];
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

  /** Whether the first page is to be read again without a size: it was empty with one, which may have been a filter. */
  dropGuess(): boolean {
    if (!this.#isGuess || this.current === undefined) return false;
    this.#candidates = [undefined];
    return true;
  }
}
