import { DataError } from '../errors.ts';
import { PageScan } from '../json/page-scan.ts';
import type { ScannedRecord } from '../json/scanner.ts';
import { IdSet, Unidentified } from '../lead/id-set.ts';
import { oldestOfNewestFirst } from '../lead/raw-lead.ts';
import { type RawAnswer, rawCall } from './client/raw-call.ts';
import type { Service } from './client/service.ts';
import { Doubts } from './doubts.ts';
import { pageUrl, pageWithoutList } from './fetch-page.ts';
import type { Completion } from './listing-types.ts';
import { pagerFrom } from './pagers/choose-pager.ts';
import { rejectsPosition } from './pagers/ends.ts';
import { hintsOf, type PageFacts } from './pagers/hints.ts';
import { type Answer, overBudget, type PageRequest } from './pagers/pager.ts';
import { start } from './pagers/position.ts';
import type { RequestParams } from './pagers/request-params.ts';
import { answerError } from './problems.ts';
import { Readings } from './readings.ts';

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
  const readings = new Readings(new IdSet(), new Unidentified(), false, undefined);
  const source = { service, params, query: {}, counters: { requests: 0, retries: 0 }, signal };
  const doubts = new Doubts(source, { query: {} }, readings, () => Promise.resolve(true));
  let pager = pagerFrom(params, { ...doubts.facts, overlaps: false }, start);
  let request = pager.first();
  let [requests, fruitful, pages] = [0, 0, 0];
  for (;;) {
    const { position, isProbe = false } = request;
    const url = position.style === 'start' ? params.url : pageUrl(source, request);
    requests += 1;
    const answer = await rawCall(service, { method: 'GET', url, headers }, signal, true);
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const read = readAnswer({ params, request, answer, body, isFirst: pages === 0 });
    if (!isProbe && read.kind !== 'rejected') yield { answer, body };
    if (read.kind === 'failed') throw read.error;
    pages += 1;
    let told: Answer = read;
    if (read.kind === 'answer' && isProbe) {
      // What a probe finds is asked for again as a page.
      const fresh = read.head.filter((record) => !readings.isMet(record)).length;
      if (fresh > 0) fruitful += 1;
      told = { ...read, fresh };
      doubts.note(told);
    } else if (read.kind === 'answer') {
      readings.beginPage();
      doubts.meet(read.head, pages === 1);
      const { fresh, leadingFresh, leadingKnown, hash, bringsNew } = readings.add([...read.head]);
      if (bringsNew) fruitful += 1;
      told = { ...read, fresh, leadingFresh, leadingKnown, hash };
      doubts.note(told);
    }
    let step = pager.next(told);
    if (step.kind === 'turn') {
      pager = step.pager;
      step = step.step;
    }
    if (told.kind === 'answer' && !isProbe) readings.endPage(told, pager.movement);
    if (step.kind === 'reread') step = pager.first();
    if (step.kind === 'page') step = overBudget(requests, fruitful) ?? step;
    if (step.kind !== 'page') return doubts.against(step, told);
    request = step;
  }
}

interface RawRead {
  readonly params: RequestParams;
  readonly request: PageRequest;
  readonly answer: RawAnswer;
  readonly body: Buffer;
  readonly isFirst: boolean;
}

/** An answer for the pager; `failed`: it is no success, or not JSON with a list in it. */
function readAnswer({
  params,
  request,
  answer,
  body,
  isFirst,
}: RawRead): Answer | { kind: 'failed'; error: Error } {
  const { failure, status } = answer;
  try {
    if (failure !== undefined) throw failure;
    const { facts, leads } = readPage(params, answer, body, request);
    const counts = { fresh: 0, leadingFresh: 0, leadingKnown: 0, hash: 0, isLeft: false };
    return {
      kind: 'answer',
      request,
      facts,
      hints: hintsOf(params, facts),
      head: leads,
      tail: leads,
      ...counts,
    };
  } catch (error) {
    if (!(error instanceof DataError)) return { kind: 'failed', error: error as Error };
    const isRejection = rejectsPosition(status) || request.isProbe === true;
    return isRejection && !isFirst ? { kind: 'rejected', request, error } : { kind: 'failed', error };
  }
}

/** Throws a `DataError` for what is not JSON with a list in it. */
function readPage(
  params: RequestParams,
  answer: RawAnswer,
  body: Buffer,
  { position }: PageRequest,
): { readonly facts: PageFacts; readonly leads: readonly ScannedRecord[] } {
  const leads: ScannedRecord[] = [];
  const asked = position.style === 'start' ? params.url : answer.url;
  if (answer.status === 204) return { facts: pageWithoutList(answer, asked), leads };
  if (body.length === 0) throw answerError({ kind: 'answer-empty' });
  const scan = new PageScan(params.items, params);
  scan.push(body, leads);
  const envelope = scan.end(leads);
  params.leads.read(leads, 0, 0);
  if (envelope === undefined) throw answerError({ kind: 'answer-ends-early' });
  const { url, status, headers } = answer;
  const lastId = leads.at(-1)?.id;
  const oldest = (): number | undefined => oldestOfNewestFirst(leads);
  return { facts: { asked, url, status, headers, envelope, count: leads.length, lastId, oldest }, leads };
}
