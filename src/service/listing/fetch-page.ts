import { openBrace, openBracket, skipSpace } from '../../json/bytes.ts';
import { PageScan } from '../../json/page-scan.ts';
import type { ScannedRecord } from '../../json/scanner.ts';
import { oldestOfNewestFirst } from '../../lead/raw-lead.ts';
import { Attempts, networkFailure, TransientError } from '../client/retry.ts';
import { type Answer, request } from '../client/send-request.ts';
import { driftOf, type Service } from '../client/service.ts';
import { linksIn, type PageFacts } from '../pagination/pagination-hints.ts';
import { countInUrl, type Position, positionKey, timeText } from '../pagination/position.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import { answerError, serviceError } from '../problems.ts';
import type { LeadQuery, ListingOptions, RequestCounters } from './listing-types.ts';
import { DataError, ServiceError } from '../../errors.ts';
import { hintsOf } from '../pagination/read-next-page.ts';
import { numberParams } from '../pagination/service-names.ts';

/**
 * One page with all its retries. Only a page beyond 2 MiB comes in several parts. Throws like `request`, and a
 * `ServiceError` when every attempt failed.
 */
export async function* fetchPage(
  service: Service,
  params: RequestParams,
  url: URL,
  counters: RequestCounters,
  signal: AbortSignal,
): AsyncGenerator<PagePart, void, undefined> {
  const attempts = new Attempts(service, () => (counters.retries += 1));
  let handedOut = 0;
  for (;;) {
    try {
      counters.requests += 1;
      const askedAt = service.clock.now();
      const answer = await request(service, url, signal);
      counters.drift ??= driftOf(answer.headers, askedAt, service.clock.now());
      const again = handedOut > 0;
      let count = 0;
      for await (const part of partsOf(answer, url, params, attempts)) {
        const known = Math.max(0, handedOut - count);
        count += part.leads.length;
        handedOut = Math.max(handedOut, count);
        // What has no id cannot be recognised: its place on the page has to do.
        const leads = again
          ? part.leads.filter((lead, i) => i >= known || lead.id !== undefined)
          : part.leads;
        yield { leads, again, facts: part.facts };
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      const failure = networkFailure(error, url.origin);
      if (!(failure instanceof TransientError)) throw failure;
      await attempts.next(failure, signal);
    }
  }
}

/** A page is handed out whole up to this size, in bytes, so that an attempt that breaks off leaves no trace. */
const partSize = 2 * 1024 * 1024;

/** An answer with an error in it is not longer, in bytes. */
const longestRejection = 64 * 1024;

/** Bytes a second; slower than that, an answer does not outlive the deadline. */
const slowest = 1024;

/** The records of one answer in parts, the last one with its facts. Throws a `TransientError` when it was cut off. */
async function* partsOf(
  answer: Answer,
  asked: URL,
  params: RequestParams,
  attempts: Attempts,
): AsyncGenerator<Omit<PagePart, 'again'>, void, undefined> {
  const scan = new PageScan(params.items, params);
  const leftAtStart = attempts.left;
  let leads: ScannedRecord[] = [];
  let size = 0;
  let read = 0;
  const beginning: Uint8Array[] = [];
  let count = 0;
  let last: ScannedRecord | undefined;
  for await (const chunk of answer.body) {
    if (read === 0) refuseOtherThanJson(answer, chunk);
    read += chunk.length;
    size += chunk.length;
    if (read <= longestRejection) beginning.push(chunk);
    const scanned = leads.length;
    scan.push(chunk, leads);
    params.leads.read(leads, scanned, count);
    if (attempts.left < 0 && read < ((leftAtStart - attempts.left) / 1000) * slowest) {
      throw new TransientError(serviceError({ kind: 'answer-too-slow' }));
    }
    if (size <= partSize || leads.length === 0) continue;
    last = leads.at(-1);
    count += leads.length;
    yield { leads, facts: undefined };
    leads = [];
    size = 0;
  }
  if (answer.status === 204) {
    yield { leads, facts: pageWithoutList(answer, asked) };
    return;
  }
  if (read === 0 && answer.headers['content-length'] === '0') throw answerError({ kind: 'answer-empty' });
  const scanned = leads.length;
  const envelope = endOf(scan, leads, count === 0 && read <= longestRejection ? beginning : [], answer);
  params.leads.read(leads, scanned, count);
  if (envelope === undefined) throw cutOff(answer);
  const hasLeads = count + leads.length > 0;
  if (hasLeads) params.answers.first ??= envelope.root;
  const rejection = hasLeads ? undefined : answer.failureIn(envelope.root, params.answers.first);
  if (rejection !== undefined) throw rejection;
  count += leads.length;
  const { url, status, headers } = answer;
  yield {
    leads,
    facts: {
      ...{ asked, url, status, headers },
      envelope,
      count,
      lastId: (leads.at(-1) ?? last)?.id,
      oldest: () => (count === leads.length ? oldestOfNewestFirst(leads) : undefined),
    },
  };
}

/** What is known of an answer without a body, which may be an empty page. */
export const pageWithoutList = (
  { url, status, headers }: Pick<Answer, 'url' | 'status' | 'headers'>,
  asked: URL,
): PageFacts => ({
  ...{ asked, url, status, headers, count: 0, lastId: undefined },
  envelope: { root: null, path: [], isWithoutList: true },
});

/** A small answer without leads may be an error that came with status 200: then its own words say more. */
function endOf(
  scan: PageScan,
  leads: ScannedRecord[],
  body: readonly Uint8Array[],
  answer: Answer,
): ReturnType<PageScan['end']> {
  try {
    return scan.end(leads);
  } catch (error) {
    throw answer.failureIn(Buffer.concat(body)) ?? error;
  }
}

/**
 * JSON that ends too early. A body that is only ended by closing the connection shows in no other way that it was cut;
 * one that came whole is the service's answer.
 */
function cutOff({ headers, requestId }: Answer): TransientError {
  const isWhole = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return new TransientError(
    isWhole
      ? answerError({ kind: 'answer-ends-early' }, { requestId })
      : serviceError({ kind: 'answer-cut-off' }, { requestId }),
  );
}

/** A page for people, such as a login form, is named for what it is. */
function refuseOtherThanJson({ headers, requestId, failureIn }: Answer, chunk: Uint8Array): void {
  const type = headers['content-type']?.split(';')[0]?.trim() ?? '';
  const first = chunk[skipSpace(chunk, 0, chunk.length)];
  if (type === '' || /json/i.test(type) || first === openBrace || first === openBracket) return;
  throw failureIn(chunk) ?? answerError({ kind: 'answer-not-json', type }, { requestId });
}

/** What is added to a time at either end when it is sent; ms. */
export const widening = 86_400_000;

/** The address of the page at a position, filters and page size included. */
export function pageUrl(
  params: RequestParams,
  query: LeadQuery,
  size: number | undefined,
  position: Position,
): URL {
  if (position.style === 'url') {
    const url = new URL(position.url);
    // A position may come from a file; the key goes to one origin only.
    if (url.origin === params.url.origin) return url;
    throw answerError({ kind: 'position-elsewhere', origin: url.origin });
  }
  const url = new URL(params.url);
  const set = (name: string | undefined, value: string | undefined): void => {
    if (name !== undefined && value !== undefined) url.searchParams.set(name, value);
  };
  set(params.limit, size === undefined ? undefined : String(size));
  set(params.status, query.status);
  const categories = query.categories ?? [];
  set(params.category, categories.length === 1 ? categories[0] : undefined);
  // A day wider, since the service's idea of a day's borders may differ; `leadFilter` decides.
  const setTime = (name: string | undefined, ms: number | undefined, by: number): void =>
    set(name, ms === undefined ? undefined : timeText(ms + by, params.dateFormat));
  setTime(params.since, query.since, -widening);
  setTime(params.until, query.until, widening);
  if (position.style === 'cursor') set(position.param, position.cursor);
  else if (position.style === 'page') set(position.param, String(position.page));
  else if (position.style === 'offset') set(position.param, String(position.offset));
  else if (params.pagination === 'page') set(params.page, String(params.firstPage));
  else if (params.pagination === 'offset') set(params.offset ?? 'offset', '0');
  return url;
}

export interface PagePart {
  readonly leads: readonly ScannedRecord[];
  /** An earlier attempt broke off after it had handed out leads: some of these may have come before. */
  readonly again: boolean;
  /** Set on the last part. */
  readonly facts: PageFacts | undefined;
}

/** A record's bytes as text: tells pages apart whose records have no ids. */
export const recordFingerprint = (lead: ScannedRecord | undefined): string =>
  lead === undefined ? '' : Buffer.from(lead.bytes).toString('latin1');

type Pages = AsyncGenerator<PagePart, void, undefined>;

/** Pages that were requested before they are needed; they arrive at once and are used in order. */
export class Prefetch {
  readonly #open: (position: Position) => Pages;
  readonly #underway = new Map<
    string,
    { readonly pages: Pages; readonly first: Promise<IteratorResult<PagePart, void>> }
  >();

  /** Pages that were requested before the page in front of them was read. */
  readonly #early = new Set<string>();

  constructor(open: (position: Position) => Pages) {
    this.#open = open;
  }

  /** Requests a page, unless that was done. Its failure shows only when it is taken. */
  request(position: Position): void {
    const key = positionKey(position);
    if (this.#underway.has(key)) return;
    const pages = this.#open(position);
    const first = pages.next();
    first.catch(() => undefined);
    this.#underway.set(key, { pages, first });
  }

  /** Requests what saves time: the next page, and those behind it whose places can be computed. */
  requestAhead(
    next: Position,
    count: number,
    total: number | undefined,
    { concurrency = 1, prefetch }: Pick<ListingOptions, 'concurrency' | 'prefetch'>,
  ): void {
    if (prefetch === true || concurrency > 1) this.request(next);
    if (concurrency < 2) return;
    const step = next.style === 'offset' && next.after !== undefined ? count - 1 : count;
    for (const position of predict(next, step, total, concurrency - 1)) {
      this.request(position);
      this.#early.add(positionKey(position));
    }
  }

  /** Whether a page may be older than the one in front of it. */
  isEarly(position: Position): boolean {
    return this.#early.has(positionKey(position));
  }

  /** Whether it is: then it is forgotten, and so is what is underway. */
  dropEarly(position: Position): boolean {
    const isEarly = this.isEarly(position);
    if (isEarly) this.clear();
    return isEarly;
  }

  /** The parts of the page at this position. */
  async *take(position: Position): Pages {
    this.request(position);
    const key = positionKey(position);
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

  /** Forgets what is underway; the caller aborts the requests. */
  clear(): void {
    this.#underway.clear();
    this.#early.clear();
  }
}

/**
 * Where the pages after `next` will begin if the list goes on as it did: known for page and offset styles only. Stops
 * at the total, where there is one.
 */
function predict(next: Position, step: number, total: number | undefined, many: number): Position[] {
  const positions: Position[] = [];
  for (let i = 1; i <= many; i += 1) {
    if (next.style === 'page') {
      if (total !== undefined && (next.page + i - 1) * step >= total) break;
      positions.push({ style: 'page', param: next.param, page: next.page + i });
    } else if (next.style === 'offset') {
      const offset = next.offset + i * step;
      if (step < 1 || (total !== undefined && offset >= total)) break;
      positions.push({ style: 'offset', param: next.param, offset });
    }
  }
  return positions;
}

/** A page that is looked at and not handed out. */
export type Peeked =
  | {
      readonly kind: 'page';
      readonly count: number;
      readonly ids: readonly (string | undefined)[];
      /** Of the first record: tells pages apart whose records have no ids. */
      readonly firstMark: string;
      /** Leads in all, as it says; undefined also where no more than its beginning was read. */
      readonly total: number | undefined;
      /** It says that there is more behind it. */
      readonly saysMore: boolean;
      /** Undefined where no more than its beginning was read. */
      readonly facts?: PageFacts | undefined;
    }
  /** The service rejected the request with a 4xx, or answered something else than a page. */
  | { readonly kind: 'rejected'; readonly status: number | undefined };

/**
 * Reads a page at a position with another page size than the walk's; undefined: the service's own. With `isPart`, no
 * more of a large page than its beginning.
 */
export type Peek = (
  position: Position,
  size: number | undefined,
  isPart?: boolean,
  part?: PartOfList,
) => Promise<Peeked>;

/** What is asked for in place of the walk's query, and who reads the leads that come. */
interface PartOfList {
  readonly query: (query: LeadQuery) => LeadQuery;
  readonly read: (lead: ScannedRecord) => void;
}

/** `counters` also count the requests of peeks. Throws like `fetchPage`, a `DataError` aside. */
export function peekAt(
  service: Service,
  params: RequestParams,
  query: LeadQuery,
  counters: RequestCounters,
  signal: AbortSignal,
): Peek {
  return async (position, size, isPart = false, part) => {
    const asked = part?.query(query) ?? query;
    const url =
      position.style === 'url' ? sized(position.url, size, params) : pageUrl(params, asked, size, position);
    const ids: (string | undefined)[] = [];
    let firstMark = '';
    let [total, saysMore]: [number | undefined, boolean] = [undefined, false];
    let whole: PageFacts | undefined;
    try {
      for await (const { leads, facts } of fetchPage(service, params, url, counters, signal)) {
        for (const lead of leads) {
          ids.push(lead.id);
          part?.read(lead);
        }
        whole = facts;
        if (facts !== undefined) {
          const hints = hintsOf(params, facts);
          total = hints.total;
          saysMore =
            Boolean(hints.next) ||
            hints.hasMore === true ||
            linksIn(facts.headers['link'])?.has('next') === true;
        }
        if (ids.length === leads.length) firstMark = recordFingerprint(leads[0]);
        if (isPart && ids.length > 0) break;
      }
    } catch (error) {
      if (error instanceof DataError && !isUnreadable(error))
        return { kind: 'rejected', status: error.status };
      // Some services fail over a parameter that they do not expect. In an outage they are not there at all, as a rule.
      if (error instanceof ServiceError && (error.status === 500 || error.status === 501))
        return { kind: 'rejected', status: error.status };
      throw error;
    }
    return { kind: 'page', count: ids.length, ids, firstMark, total, saysMore, facts: whole };
  };
}

/** A URL of the service with another page size, by the parameter that it has for that. */
function sized(target: string, size: number | undefined, params: RequestParams): URL {
  const url = new URL(target);
  if (size === undefined || countInUrl(url) === undefined) return url;
  const name = numberParams.limit.inAddress.find((one) => url.searchParams.has(one)) ?? params.limit;
  if (name !== undefined) url.searchParams.set(name, String(size));
  return url;
}

/** An element of the page in which no lead is found: no other reading of the page would bring it. */
const isUnreadable = ({ problem }: DataError): boolean =>
  ['record-is-no-object', 'no-lead-in-element', 'member-beside-lead'].includes(problem?.kind ?? '');
