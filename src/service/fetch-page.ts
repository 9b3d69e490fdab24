import { openBrace, openBracket, skipSpace } from '../json/bytes.ts';
import { PageScan } from '../json/page-scan.ts';
import type { ScannedRecord } from '../json/scanner.ts';
import { oldestOfNewestFirst } from '../lead/raw-lead.ts';
import type { LeadsError } from '../errors.ts';
import { Attempts, networkFailure, TransientError } from './client/retry.ts';
import { request, type Answer } from './client/send-request.ts';
import { driftOf, type Service } from './client/service.ts';
import type { PageFacts } from './pagers/hints.ts';
import { timeText, type Position } from './pagers/position.ts';
import type { PageRequest } from './pagers/pager.ts';
import type { RequestParams } from './pagers/request-params.ts';
import { answerError, serviceError } from './problems.ts';
import type { LeadQuery, RequestCounters } from './listing-types.ts';

/** A list, and what its pages are asked for with. */
export interface PageSource {
  readonly service: Service;
  readonly params: RequestParams;
  readonly query: LeadQuery;
  readonly counters: RequestCounters;
  readonly signal: AbortSignal;
  /** The records of one page, and what else it says. */
  readonly open: (source: PageSource, request: PageRequest, mayFail: boolean) => PageParts;
}

export type PageParts = AsyncGenerator<PagePart, void, undefined>;

/**
 * One page with all its retries. Only a page beyond 2 MiB comes in several parts. Throws like `request`, and a
 * `ServiceError` when every attempt failed; with `mayFail` already where a service fails twice over what it was asked for.
 */
export async function* fetchPage(
  { service, params, counters, signal }: Omit<PageSource, 'query' | 'open'>,
  url: URL,
  mayFail = false,
): PageParts {
  let failed = 0;
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
      const leftAtStart = attempts.left;
      const isTooSlow = (bytes: number): boolean =>
        attempts.left < 0 && bytes < ((leftAtStart - attempts.left) / 1000) * slowest;
      for await (const part of partsOf(answer, url, params, isTooSlow)) {
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
      failed += 1;
      if (mayFail && failed > 1 && isOverload(failure.failure)) throw failure.failure;
      await attempts.next(failure, signal);
    }
  }
}

/** Whether a service may have failed for the size of the page. */
export const isOverload = ({ status, problem }: Pick<LeadsError, 'status' | 'problem'>): boolean =>
  status === 500 || (problem?.kind === 'unreachable' && /TIMEOUT/.test(String(problem['code'])));

/** A page is handed out whole up to this size, in bytes, so that an attempt that breaks off leaves no trace. */
const partSize = 2 * 1024 * 1024;

/** An answer with an error in it is not longer, in bytes. */
const longestRejection = 64 * 1024;

/** Bytes a second; slower than that, an answer does not outlive the deadline. */
const slowest = 1024;

/** The records of one answer in parts, the last one with its facts. Throws a `TransientError` when it was cut off. */
export async function* partsOf(
  answer: Omit<Answer, 'body'> & { readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> },
  asked: URL,
  params: RequestParams,
  isTooSlow: (bytes: number) => boolean = () => false,
): PageParts {
  const scan = new PageScan(params.items, params);
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
    if (isTooSlow(read)) throw new TransientError(serviceError({ kind: 'answer-too-slow' }));
    if (size <= partSize || leads.length === 0) continue;
    last = leads.at(-1);
    count += leads.length;
    yield { leads, again: false, facts: undefined };
    leads = [];
    size = 0;
  }
  if (answer.status === 204) {
    yield { leads, again: false, facts: pageWithoutList(answer, asked) };
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
    again: false,
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
const pageWithoutList = (
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
  answer: Pick<Answer, 'failureIn'>,
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
function cutOff({ headers, requestId }: Pick<Answer, 'headers' | 'requestId'>): TransientError {
  const isWhole = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return new TransientError(
    isWhole
      ? answerError({ kind: 'answer-ends-early' }, { requestId })
      : serviceError({ kind: 'answer-cut-off' }, { requestId }),
  );
}

/** A page for people, such as a login form, is named for what it is. */
function refuseOtherThanJson(
  { headers, requestId, failureIn }: Omit<Answer, 'body'>,
  chunk: Uint8Array,
): void {
  const type = headers['content-type']?.split(';')[0]?.trim() ?? '';
  const first = chunk[skipSpace(chunk, 0, chunk.length)];
  if (type === '' || /json/i.test(type) || first === openBrace || first === openBracket) return;
  throw failureIn(chunk) ?? answerError({ kind: 'answer-not-json', type }, { requestId });
}

/** What is added to a time at either end when it is sent; ms. */
const widening = 86_400_000;

/** The address of the page at a position, filters and page size included. */
export function pageUrl(
  { params, query }: Pick<PageSource, 'params' | 'query'>,
  { position, limit, limitNames }: Pick<PageRequest, 'position' | 'limit' | 'limitNames'>,
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
  for (const name of limitNames ?? [params.limit]) set(name, limit === undefined ? undefined : String(limit));
  set(params.status, query.status);
  const categories = query.categories ?? [];
  set(params.category, categories.length === 1 ? categories[0] : undefined);
  // A day wider, since the service's idea of a day's borders may differ; `leadFilter` decides.
  const setTime = (name: string | undefined, ms: number | undefined, by: number): void =>
    set(name, ms === undefined ? undefined : timeText(ms + by, params.dateFormat));
  setTime(params.since, query.since, -widening);
  setTime(params.until, query.until, widening);
  if (position.style === 'cursor') set(position.param, position.cursor);
  else if (position.style === 'before') setBefore(position, params, set);
  else if (position.style === 'page') set(position.param, String(position.page));
  else if (position.style === 'offset') set(position.param, String(position.offset));
  else if (params.pagination === 'page') set(params.page, String(params.firstPage));
  else if (params.pagination === 'offset') set(params.offset ?? 'offset', '0');
  return url;
}

function setBefore(
  { ids, id, times, time }: Extract<Position, { readonly style: 'before' }>,
  { dateFormat }: RequestParams,
  set: (name: string, value: string) => void,
): void {
  for (const name of ids) set(name, id);
  if (time === undefined) return;
  // A little later: the lead itself comes again, whether the service includes the time or compares seconds.
  const end = timeText(time % 1000 === 0 ? time + 1000 : time + 1, dateFormat);
  for (const name of times) set(name, end);
}

export interface PagePart {
  readonly leads: readonly ScannedRecord[];
  /** An earlier attempt broke off after it had handed out leads: some of these may have come before. */
  readonly again: boolean;
  /** Set on the last part. */
  readonly facts: PageFacts | undefined;
}
