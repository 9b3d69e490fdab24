import { DataError } from '../../errors.ts';
import { PageScan } from '../../json/page-scan.ts';
import type { ScannedRecord } from '../../json/scanner.ts';
import { oldestOfNewestFirst } from '../../lead/raw-lead.ts';
import { IdSet, Unidentified } from '../../lead/id-set.ts';
import { type RawAnswer, rawCall } from '../client/raw-call.ts';
import type { Service } from '../client/service.ts';
import type { PageFacts } from '../pagination/pagination-hints.ts';
import {
  recordBefore,
  countInUrl,
  countOfPosition,
  type Position,
  withNumber,
} from '../pagination/position.ts';
import { asksForPart, type RequestParams } from '../pagination/request-params.ts';
import { answerError } from '../problems.ts';
import type { Completion } from './incomplete-error.ts';
import { pageUrl, pageWithoutList, peekAt, recordFingerprint } from './fetch-page.ts';
import { rejectsPosition } from './lead-pages.ts';
import { dropKnown, Passes, PlacesOfPage, totalsFrom } from './passes.ts';
import { Probes } from './probes.ts';
import { type Answer, initialState } from './walk-state.ts';
import { type PageReader, walk } from './walk.ts';

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
export function rawPages(
  service: Service,
  params: RequestParams,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): AsyncGenerator<RawPage, Completion, undefined> {
  const ids = new IdSet();
  const [unidentified, passes, places] = [new Unidentified(), new Passes(), new PlacesOfPage()];
  let pages = 0;
  const peeks = { requests: 0, retries: 0 };
  async function* read(position: Position): AsyncGenerator<RawPage, Answer, undefined> {
    const url = position.style === 'start' ? params.url : pageUrl(params, {}, undefined, position);
    const answer = await rawCall(service, { method: 'GET', url, headers }, signal, true);
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { failure, status } = answer;
    if (pages > 0 && failure instanceof DataError && rejectsPosition(status))
      return { kind: 'rejected', error: failure };
    yield { answer, body };
    if (failure !== undefined) throw failure;
    const { facts, leads } = readPage(params, url, answer, body);
    pages += 1;
    const known = unidentified.size;
    const { kept, tally, repeats } = dropKnown(leads, ids, unidentified, passes);
    places.begin(undefined);
    places.addPart(leads, repeats, false);
    const bringsNew = tally.fresh > 0 || unidentified.size > known;
    const covers = places.end(facts.count, facts.lastId);
    const [first, last] = [leads[0], leads.at(-1)];
    const marks = {
      firstId: first?.id,
      firstMark: recordFingerprint(first),
      lastMark: recordFingerprint(last),
    };
    return {
      kind: 'page',
      facts,
      covers,
      bringsNew,
      leads: kept,
      tally,
      ...marks,
      size: undefined,
      isFirst: pages === 1,
    };
  }
  const reader: PageReader<RawPage> = {
    read,
    get requests() {
      return pages + peeks.requests - peeks.retries;
    },
    movementAt: () => undefined,
    placeOf: withoutOverlap,
    beginPass: () => undefined,
    handOut: () => [],
  };
  const isFiltered = asksForPart(params);
  const totals = totalsFrom();
  const probes = new Probes(params, peekAt(service, params, {}, peeks, signal), ids);
  return walk(reader, probes, initialState(params, startOf(params), isFiltered, totals), service);
}

/** Throws a `DataError` for what is not JSON with a list in it. */
function readPage(
  params: RequestParams,
  asked: URL,
  answer: RawAnswer,
  body: Buffer,
): { readonly facts: PageFacts; readonly leads: readonly ScannedRecord[] } {
  const leads: ScannedRecord[] = [];
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

/** Where a list begins that is read as its address was typed: an offset in it is where the counting starts. */
function startOf({ url }: RequestParams): Position {
  const found = countInUrl(url);
  return found?.number.kind === 'offset'
    ? { style: 'offset', param: found.param, offset: found.number.value }
    : { style: 'start' };
}

/** The same place without the record in front of it, which `listLeads` reads twice to see whether the list has moved. */
function withoutOverlap(position: Position): Position {
  const number = countOfPosition(position);
  if (number?.kind !== 'offset' || recordBefore(position) === undefined) return position;
  return withNumber(position, number.value + 1, undefined);
}
