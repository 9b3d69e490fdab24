import { DataError } from '../../errors.ts';
import { PageScan } from '../../json/page-scan.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import { IdSet, Unidentified } from '../../lead/id-set.ts';
import { type RawAnswer, rawCall } from '../client/raw-call.ts';
import type { Service } from '../client/service.ts';
import { NullNext } from '../pagination/next-page.ts';
import { afterOf, keyOf, numberIn, numberOf, type Position, withNumber } from '../pagination/position.ts';
import { limitParams, offsetParams, pageParams, type RequestParams } from '../pagination/request-params.ts';
import type { Completion } from './completion.ts';
import { go, type Step, StepDecider, type WholePage } from './decide-step.ts';
import { markOf, pageUrl } from './fetch-page.ts';
import { dropKnown, Passes } from './passes.ts';
import { peekAt } from './peek.ts';
import { Probes } from './probes.ts';
import { contraryTotal, settleNoPosition } from './settle.ts';
import { Totals } from './totals.ts';
import { LoopGuard } from './walker.ts';

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
  const walk = new RawWalk(service, params, signal);
  let position = startOf(params);
  for (;;) {
    walk.guard.enter(keyOf(position));
    const url = position.style === 'start' ? params.url : pageUrl(params, {}, undefined, position);
    const answer = await rawCall(service, { method: 'GET', url, headers }, signal, true);
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    let step: Step;
    if (answer.failure === undefined) {
      yield { answer, body };
      step = walk.afterPage(position, readPage(params, answer, body));
    } else {
      const isRejection = walk.pages > 0 && [400, 404, 410, 416, 422].includes(answer.status);
      if (!isRejection || !(answer.failure instanceof DataError)) {
        yield { answer, body };
        throw answer.failure;
      }
      step = walk.afterRejection(position, answer.failure);
    }
    if (step.kind === 'probe') step = await walk.probe(step.reason);
    if (step.kind === 'end') return walk.settled(step.completion);
    if (step.kind === 'go') position = withoutOverlap(step.position);
  }
}

/** Throws a `DataError` for what is not JSON with a list in it. */
function readPage(params: RequestParams, { url, headers, status }: RawAnswer, body: Buffer): ReadPage {
  const leads: ScannedRecord[] = [];
  if (status === 204) {
    const facts = { url, headers, envelope: { root: null, path: [] }, count: 0, lastId: undefined };
    return { facts, leads };
  }
  if (body.length === 0) throw new DataError('the answer is empty');
  const scan = new PageScan(params.items);
  scan.push(body, leads);
  const envelope = scan.end(leads);
  params.leads.read(leads, 0, 0);
  if (envelope === undefined) {
    throw new DataError('the answer is not valid JSON: it ends too early, although it came whole');
  }
  return { facts: { url, headers, envelope, count: leads.length, lastId: leads.at(-1)?.id }, leads };
}

type ReadPage = Pick<WholePage, 'facts' | 'leads'>;

/** What the pages so far have shown. */
class RawWalk {
  readonly guard = new LoopGuard();
  pages = 0;
  readonly #service: Service;
  readonly #seen = new IdSet();
  readonly #unidentified = new Unidentified();
  readonly #passes = new Passes();
  readonly #decider: StepDecider;
  readonly #probes: Probes;
  readonly #totals: Totals;
  readonly #isFiltered: boolean;

  constructor(service: Service, params: RequestParams, signal: AbortSignal) {
    this.#service = service;
    const start = startOf(params);
    this.#isFiltered = asksForPart(params);
    this.#decider = new StepDecider(params, new NullNext(this.#isFiltered, start), service.clock);
    const counters = { requests: 0, retries: 0 };
    this.#probes = new Probes(params, peekAt(service, params, {}, counters, signal), this.#seen);
    this.#totals = new Totals(undefined, this.#isFiltered ? undefined : 0);
  }

  afterPage(position: Position, { facts, leads }: ReadPage): Step {
    this.pages += 1;
    const { kept, tally } = dropKnown(leads, this.#seen, this.#unidentified, this.#passes);
    const [first, last] = [leads[0], leads.at(-1)];
    const marks = { firstId: first?.id, firstMark: markOf(first), lastMark: markOf(last) };
    const page: WholePage = { kind: 'page', facts, leads: kept, tally, ...marks };
    this.guard.countRecords(facts.count, this.pages);
    this.#totals.count(tally);
    if (this.pages === 1) {
      this.#totals.repeated = tally.repeated;
      this.#probes.noteFirst(page, undefined);
    }
    return this.#decider.afterPage(position, page, undefined, this.#totals);
  }

  afterRejection(position: Position, error: DataError): Step {
    return this.#decider.afterRejection(position, error);
  }

  async probe(reason: (Step & { kind: 'probe' })['reason']): Promise<Step> {
    const found = await this.#probes.run(reason);
    if (found.kind === 'next') {
      this.#decider.noteHonoured();
      this.guard.reset();
      return go(found.position);
    }
    if (found.kind === 'nothing-behind') {
      return { kind: 'end', completion: { kind: 'complete', evidence: 'nothing-behind' } };
    }
    const end = { ...found, ...this.#probes.first, hasMore: reason.kind === 'behind-id' };
    return settleNoPosition(end, this.#totals, this.#isFiltered, this.#service.messages);
  }

  /** The totals may contradict what the last page says. */
  settled(completion: Completion): Completion {
    if (completion.kind === 'unproven') return completion;
    return contraryTotal({ totals: this.#totals, isFiltered: this.#isFiltered }) ?? completion;
  }
}

const positionParams = [...pageParams, ...offsetParams];

/** Where a list begins that is read as its address was typed: an offset in it is where the counting starts. */
function startOf({ url }: RequestParams): Position {
  const found = numberIn(url);
  return found?.number.kind === 'offset'
    ? { style: 'offset', param: found.param, offset: found.number.value }
    : { style: 'start' };
}

/** The same place without the record in front of it, which `listLeads` reads twice to see whether the list has moved. */
function withoutOverlap(position: Position): Position {
  const number = numberOf(position);
  if (number?.kind !== 'offset' || afterOf(position) === undefined) return position;
  return withNumber(position, number.value + 1, undefined);
}

/** Whether an address may ask for some of the records only, while a total of the answer counts all of them. */
function asksForPart({ url, limit }: RequestParams): boolean {
  const { kind, value } = numberIn(url)?.number ?? { kind: 'offset', value: 0 };
  const names = [...url.searchParams.keys()].filter((name) => name !== limit && !limitParams.includes(name));
  return names.some((name) => !positionParams.includes(name)) || value > (kind === 'page' ? 1 : 0);
}
