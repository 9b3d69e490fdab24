import { DataError, LeadsError } from '../errors.ts';
import { beginningOf, errorByStatus } from './client/failures.ts';
import { networkFailure, TransientError } from './client/network-failure.ts';
import { Retries } from './client/retry.ts';
import { exchange, type Call, type ServiceResponse } from './client/send-request.ts';
import type { Service } from './client/service.ts';
import { partsOf, type PageParts, type PageSource } from './fetch-page.ts';
import { pageUrl } from './page-request.ts';
import { listPages } from './listing.ts';
import { IncompleteError } from './listing-types.ts';
import { rejectsPosition, type PageRequest, type Unproven } from './pagers/pager.ts';
import type { RequestParams } from './pagers/request-params.ts';

export interface RawAnswer extends Omit<ServiceResponse, 'discard' | 'body'> {
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Why this answer is not a success: its body is the service's, and this ends the run. */
  readonly failure: LeadsError | undefined;
}

/** A shorter body is read whole before it is given, so that an answer that breaks off leaves no trace; in bytes. */
const longestWhole = 2 * 1024 * 1024;

/** A page that is longer is not read, since it would be held whole: a small answer may unfold to any size. In bytes. */
const longestPage = 256 * 1024 * 1024;

/**
 * Sends a call with all its retries, which only GET and HEAD have. `isWhole` reads every body before it is given; without it, one
 * whose length is not known streams. Throws a `ServiceError` where no answer came, or no whole one.
 */
export async function rawCall(
  service: Service,
  call: Call,
  signal: AbortSignal,
  isWhole = false,
): Promise<RawAnswer> {
  const isRepeatable = call.method === 'GET' || call.method === 'HEAD';
  const retries = new Retries(isRepeatable ? service : { ...service, retries: 0 });
  for (;;) {
    let answer: Omit<RawAnswer, 'failure'> | undefined;
    try {
      const response = await exchange(service, call, signal);
      if (response.status < 300) return await succeeded(response, isWhole, signal);
      const body = await beginningOf(response.body, longestPage);
      // A service that refuses a request may quote the key.
      answer = { ...response, body: response.redactBody([body]) };
      throw await failureOf(service, response, body);
    } catch (error) {
      const failure = await retries.after(error, call.url, signal);
      if (failure === undefined) continue;
      if (answer === undefined || !(failure instanceof LeadsError)) throw failure;
      return { ...answer, failure };
    }
  }
}

async function succeeded(
  response: ServiceResponse,
  isWhole: boolean,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const length = Number(response.headers['content-length'] ?? Number.NaN);
  const body = bodyWithOurErrors(response, signal);
  if (!isWhole && !(length <= longestWhole)) return { ...response, body, failure: undefined };
  const chunks: Uint8Array[] = [];
  let read = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk);
    read += chunk.length;
    if (read > longestPage) throw new DataError(`the answer is longer than ${longestPage / 1024 / 1024} MiB`);
  }
  return { ...response, body: chunks, failure: undefined };
}

async function* bodyWithOurErrors(
  { body, url }: Pick<ServiceResponse, 'body' | 'url'>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (error) {
    signal.throwIfAborted();
    const failure = networkFailure(error, url.origin);
    throw failure instanceof TransientError ? failure.failure : failure;
  }
}

/** A redirect is a failure here: the key is for one origin, and no other place was asked for. */
async function failureOf(
  service: Service,
  response: ServiceResponse,
  body: Uint8Array,
): Promise<LeadsError | TransientError> {
  const { status, headers, redact } = response;
  const location = headers['location'];
  if (status < 400 && location !== undefined)
    return new DataError(`the service redirects to ${redact(location)} (${status}), which is not followed`, {
      hint: 'if that is the place that was meant, ask for it',
      status,
    });
  return errorByStatus(service, response, [body]);
}

/**
 * Gives the pages of a list in the service's own bytes, each requested once: the next one is found as for `listLeads`, and so is the
 * evidence of its end. A list that moves between two pages is not noticed. The requests have the size of a page that the URL names,
 * and not that of the dialect. Not given are answers to probes, and those that reject a later position, by which the search for the
 * end learns that no page is there; a first answer that rejects is. A body with a status of success is given whatever failure it
 * tells. Throws the `failure` of an answer after it was given, and an `IncompleteError` at an end that is not proven.
 */
export async function* rawPages(
  service: Service,
  params: RequestParams,
  headers: Readonly<Record<string, string>>,
): AsyncGenerator<RawAnswer, void, undefined> {
  const received: RawAnswer[] = [];
  let isFirst = true;
  async function* open({ counters, signal }: PageSource, request: PageRequest): PageParts {
    const isStart = request.position.style === 'start';
    const url = isStart ? params.url : pageUrl({ params, query: {} }, request);
    counters.requests += 1;
    const answer = await rawCall(service, { method: 'GET', url, headers }, signal, true);
    const body: Uint8Array[] = [];
    for await (const chunk of answer.body) body.push(chunk);
    const isPage = request.isProbe !== true && (isFirst || !rejectsPosition(answer.status));
    isFirst = false;
    if (isPage) received.push({ ...answer, body });
    if (answer.failure !== undefined) throw answer.failure;
    const success = { ...answer, body, requestId: undefined, errorIn: () => undefined };
    try {
      yield* partsOf(success, url, params);
    } catch (error) {
      throw error instanceof TransientError ? error.failure : error;
    }
  }
  const acceptUnproven = (end: Unproven): never => {
    throw new IncompleteError(end, 'pages');
  };
  const source = { open, params: { ...params, pageSize: undefined } };
  const pages = listPages(service, { query: {}, acceptUnproven, readsOnce: true }, source);
  try {
    for await (const _ of pages) yield* received.splice(0);
  } catch (error) {
    yield* received;
    throw error;
  }
}
