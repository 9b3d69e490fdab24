import { rawCall, type RawAnswer } from './client/raw-call.ts';
import { TransientError } from './client/retry.ts';
import type { Service } from './client/service.ts';
import { pageUrl, partsOf, type PagePart, type PageSource } from './fetch-page.ts';
import { listPages } from './listing.ts';
import type { Completion } from './listing-types.ts';
import { rejectsPosition, unproven, type PageRequest } from './pagers/pager.ts';
import type { RequestParams } from './pagers/request-params.ts';

/** A page as it came. */
export interface RawPage {
  readonly answer: RawAnswer;
  readonly body: Uint8Array;
}

/**
 * The pages of a list in the service's own bytes, each asked for once: where the next one begins is found as for
 * `listLeads`, and so is what its end proves. What moves between two pages while they are read is not looked for. An
 * answer with a `failure`, and one that holds no list, is the last page: the failure is thrown behind it.
 */
export async function* rawPages(
  service: Service,
  params: RequestParams,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): AsyncGenerator<RawPage, Completion, undefined> {
  const came: RawPage[] = [];
  let isFirst = true;
  async function* open(
    { counters }: PageSource,
    request: PageRequest,
  ): AsyncGenerator<PagePart, void, undefined> {
    const isStart = request.position.style === 'start';
    const url = isStart ? params.url : pageUrl({ params, query: {} }, request);
    counters.requests += 1;
    const answer = await rawCall(service, { method: 'GET', url, headers }, signal, true);
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const isPage = request.isProbe !== true && (isFirst || !rejectsPosition(answer.status));
    isFirst = false;
    if (isPage) came.push({ answer, body });
    if (answer.failure !== undefined) throw answer.failure;
    const whole = { ...answer, body: [body], requestId: undefined, failureIn: () => undefined };
    try {
      yield* partsOf(whole, url, params);
    } catch (error) {
      throw error instanceof TransientError ? error.failure : error;
    }
  }
  const acceptUnproven = (): void => undefined;
  const source = { open, params: { ...params, pageSize: undefined } };
  const pages = listPages({ ...service, signal }, { query: {}, acceptUnproven, readsOnce: true }, source);
  try {
    for await (const { last } of pages) if (came.length > 0 || last) yield* came.splice(0);
  } catch (error) {
    yield* came;
    throw error;
  }
  return pages.completion ?? unproven({ kind: 'nothing-new' });
}
