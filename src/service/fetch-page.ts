import { openBrace, openBracket, skipSpace } from '../json/bytes.ts';
import { PageScan } from '../json/page-scan.ts';
import type { ScannedRecord } from '../json/scanned-record.ts';
import { DataError, ServiceError } from '../errors.ts';
import { driftOf } from '../time/clock.ts';
import { otherPlace } from '../json/errors.ts';
import { TransientError } from './client/network-failure.ts';
import { Retries } from './client/retry.ts';
import { request, type ListResponse } from './client/send-request.ts';
import type { Service } from './client/service.ts';
import type { PageFacts } from './pagers/hints.ts';
import type { PageRequest } from './pagers/pager.ts';
import { positionKey } from './pagers/position.ts';
import type { RequestParams } from './pagers/request-params.ts';
import type { LeadQuery, RequestCounters } from './listing-types.ts';

/**
 * A walk asks here for its pages. `open` requests one; with `mayFail`, the walk can do without it or ask for a smaller one, so that it is
 * not tried for long. Each request adds to `counters`.
 */
export interface PageSource {
  readonly service: Service;
  readonly params: RequestParams;
  readonly query: LeadQuery;
  readonly counters: RequestCounters;
  readonly signal: AbortSignal;
  readonly open: (source: PageSource, request: PageRequest, mayFail: boolean) => PageParts;
}

export type PageParts = AsyncGenerator<PagePart, void, undefined>;

/**
 * `isRetried`: an earlier answer broke off after it had given leads, so that some of these may have been given before. `facts`: of the
 * whole page, with its last part only.
 */
interface PagePart {
  readonly leads: readonly ScannedRecord[];
  readonly isRetried: boolean;
  readonly facts: PageFacts | undefined;
}

/** Once the deadline of the retries has passed, an answer that is slower than this is ended; bytes a second. */
const slowestRate = 1024;

/**
 * Requests a page with all its retries. Only a page beyond 2 MiB comes in several parts. Throws like `request`, and a
 * `ServiceError` when every request failed. With `mayFail`, it gives up when a retry meets an overload: the caller then asks for
 * a smaller page, or goes on without this one.
 */
export async function* fetchPage(
  { service, params, counters, signal }: Omit<PageSource, 'query' | 'open'>,
  url: URL,
  mayFail = false,
): PageParts {
  const { clock } = service;
  const retries = new Retries(service, () => (counters.retries += 1));
  /** How many records of the page all tries together have given. */
  let givenCount = 0;
  for (;;) {
    try {
      counters.requests += 1;
      const askedAt = clock.now();
      const response = await request(service, url, signal);
      counters.drift ??= driftOf(response.headers, askedAt, clock.now());
      const isRetried = givenCount > 0;
      const leftAtStart = retries.leftMs;
      const isTooSlow = (bytes: number): boolean => {
        const elapsedMs = leftAtStart - retries.leftMs;
        return retries.leftMs < 0 && bytes < (elapsedMs / 1000) * slowestRate;
      };
      let readCount = 0;
      for await (const part of partsOf(response, url, params, isTooSlow)) {
        const repeatedCount = Math.max(0, givenCount - readCount);
        readCount += part.leads.length;
        givenCount = Math.max(givenCount, readCount);
        // A record without an id cannot be recognised: its place on the page has to do.
        const leads = isRetried
          ? part.leads.filter((lead, i) => i >= repeatedCount || lead.id !== undefined)
          : part.leads;
        yield { ...part, leads, isRetried };
      }
      return;
    } catch (error) {
      const failure = await retries.after(error, url, signal, mayFail);
      if (failure !== undefined) throw failure;
    }
  }
}

/** A page up to this size, in bytes, is given whole, so that an answer that breaks off leaves no trace. */
const partSize = 2 * 1024 * 1024;

/** An error that comes with status 200 is looked for in answers up to this size, in bytes. */
const longestRejection = 64 * 1024;

type ResponseBody = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * The records of one answer in parts, the last one with its facts. Throws a `TransientError` when it was cut off. `leads` and
 * `partBytes` are of the part that is being read; `countBefore` and `lastBefore` are of the parts before it.
 */
export async function* partsOf(
  response: Omit<ListResponse, 'body'> & { readonly body: ResponseBody },
  askedUrl: URL,
  params: RequestParams,
  isTooSlow: (bytes: number) => boolean = () => false,
): PageParts {
  const { url, status, headers } = response;
  const scan = new PageScan(params.items, params);
  const beginning: Uint8Array[] = [];
  let leads: ScannedRecord[] = [];
  let readBytes = 0;
  let partBytes = 0;
  let countBefore = 0;
  let lastBefore: ScannedRecord | undefined;
  for await (const chunk of response.body) {
    if (readBytes === 0) refuseOtherThanJson(response, chunk);
    readBytes += chunk.length;
    partBytes += chunk.length;
    if (readBytes <= longestRejection) beginning.push(chunk);
    const firstUnread = leads.length;
    scan.push(chunk, leads);
    params.leads.read(leads, firstUnread, countBefore);
    if (isTooSlow(readBytes)) throw new TransientError(new ServiceError('the answer comes too slowly'));
    if (partBytes <= partSize || leads.length === 0) continue;
    lastBefore = leads.at(-1);
    countBefore += leads.length;
    yield { leads, isRetried: false, facts: undefined };
    leads = [];
    partBytes = 0;
  }
  let envelope: PageFacts['envelope'] = { root: null, path: [], isWithoutList: true };
  if (status !== 204) {
    if (readBytes === 0 && headers['content-length'] === '0') throw new DataError('the answer is empty');
    const firstUnread = leads.length;
    const isSmall = countBefore === 0 && readBytes <= longestRejection;
    envelope = envelopeOf(scan, leads, isSmall ? beginning : [], response);
    params.leads.read(leads, firstUnread, countBefore);
  }
  const count = countBefore + leads.length;
  if (count > 0) params.answers.first ??= envelope.root;
  else if (status !== 204) {
    // An answer without leads may be an error, unless the answer that brought the first leads says the same.
    const failure = response.errorIn(envelope.root, params.answers.first);
    if (failure !== undefined) throw failure;
  }
  const lastId = (leads.at(-1) ?? lastBefore)?.id;
  yield {
    leads,
    isRetried: false,
    facts: { asked: askedUrl, url, status, headers, envelope, count, lastId },
  };
}

/**
 * The envelope of a whole answer. A small answer without leads may be an error that came with status 200: then its own words say
 * more. A body that is only ended by closing the connection shows in no other way that it was cut; one that came whole is the
 * service's answer.
 */
function envelopeOf(
  scan: PageScan,
  leads: ScannedRecord[],
  body: readonly Uint8Array[],
  { headers, requestId, errorIn }: Pick<ListResponse, 'headers' | 'requestId' | 'errorIn'>,
): PageFacts['envelope'] {
  let envelope: PageFacts['envelope'] | undefined;
  try {
    envelope = scan.end(leads);
  } catch (error) {
    throw errorIn(Buffer.concat(body)) ?? error;
  }
  if (envelope !== undefined) return envelope;
  const isWhole = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  throw new TransientError(
    isWhole
      ? new DataError('the answer is not valid JSON: it ends too early, although it came whole', {
          requestId,
        })
      : new ServiceError('the answer was cut off', { requestId }),
  );
}

/** A page for people, such as a login form, is named for what it is. */
function refuseOtherThanJson(
  { headers, requestId, errorIn }: Omit<ListResponse, 'body'>,
  chunk: Uint8Array,
): void {
  const type = headers['content-type']?.split(';')[0]?.trim() ?? '';
  const first = chunk[skipSpace(chunk, 0, chunk.length)];
  if (type === '' || /json/i.test(type) || first === openBrace || first === openBracket) return;
  const details = { hint: otherPlace, requestId };
  throw errorIn(chunk) ?? new DataError(`the service answered with ${type}, not with JSON`, details);
}

/**
 * Requests pages before they are needed: their answers arrive side by side, and are read in the order of the list. A page is named
 * by its position and size.
 * - `#unread`: the pages that were requested and not read yet, each with the first part, which is on its way
 * - `#early`: the pages that were requested before the page before them was read; they stay until `clear`
 */
export class Prefetch {
  readonly #open: (request: PageRequest) => PageParts;
  readonly #unread = new Map<
    string,
    { readonly parts: PageParts; readonly first: ReturnType<PageParts['next']> }
  >();
  readonly #early = new Set<string>();

  constructor(open: (request: PageRequest) => PageParts) {
    this.#open = open;
  }

  /** Requests a page, unless that was done. Its failure shows only when it is read. */
  request(request: PageRequest, isEarly = false): void {
    const key = keyOf(request);
    if (this.#unread.has(key)) return;
    const parts = this.#open(request);
    const first = parts.next();
    first.catch(() => undefined);
    this.#unread.set(key, { parts, first });
    if (isEarly) this.#early.add(key);
  }

  /** Whether the page was requested before the page before it was read: the list may have moved between both answers. */
  isEarly(request: PageRequest): boolean {
    return this.#early.has(keyOf(request));
  }

  /** Reads a page, and requests it first where that was not done. */
  async *read(request: PageRequest): PageParts {
    this.request(request);
    const key = keyOf(request);
    const page = this.#unread.get(key);
    this.#unread.delete(key);
    if (page === undefined) return;
    try {
      for (let part = await page.first; part.done !== true; part = await page.parts.next()) yield part.value;
    } finally {
      await page.parts.return();
    }
  }

  /** Forgets all pages: a page that is read from now on is requested once more. */
  clear(): void {
    this.#unread.clear();
    this.#early.clear();
  }
}

const keyOf = ({ position, limit }: PageRequest): string => `${positionKey(position)} ${limit ?? ''}`;
