import type { CheckResult } from '../check-result.ts';
import type { Dialect } from '../../config/dialect.ts';
import { DataError, KeyRejectedError, type LeadsError, ServiceError } from '../../errors.ts';
import type { HttpClient } from '../../http/client/http-client.ts';
import { formatPointer } from '../../json/exact.ts';
import { parseLead, type RawLead, readCreatedAt } from '../../lead/raw-lead.ts';
import { askedWaitMs } from '../../service/client/rate-limit.ts';
import type { Service } from '../../service/client/service.ts';
import { driftOf } from '../../time/clock.ts';
import { fetchPage } from '../../service/fetch-page.ts';
import { listLeads } from '../../service/listing.ts';
import type { PageFacts } from '../../service/pagers/hints.ts';
import type { Position } from '../../service/pagers/position.ts';
import { type RequestParams, requestParamsOf } from '../../service/pagers/request-params.ts';

/**
 * An examination makes at most `mostRequests`, redirects and requests that failed included. A service that wants a longer wait
 * than `longestWaitMs` is asked nothing more. Of one page `mostKeptLeads` are kept: some services send all that they have.
 */
const mostRequests = 25;
const mostRetries = 2;
const longestWaitMs = 60_000;
const mostKeptLeads = 1000;

export type SeenLead = Readonly<ReturnType<typeof seenLead>>;

const seenLead = (lead: RawLead) => ({
  /** Tells leads apart: the id, or the bytes of a lead that has none. */
  key: lead.id ?? Buffer.from(lead.bytes).toString('latin1'),
  hasId: lead.id !== undefined,
  createdAt: readCreatedAt(lead.createdAt),
  record: parseLead(lead),
});

export const keysOf = (leads: readonly SeenLead[]): string[] => leads.map(({ key }) => key);

export interface SeenPage {
  readonly leads: readonly SeenLead[];
  /** Undefined where a very large answer was not read to its end. */
  readonly facts: PageFacts | undefined;
}

/**
 * The beginning of a walk, which is left once two pages have brought leads. `pages` are the new leads of each page that brought
 * any; `next` is the last position that was to be asked for, and `pagesBefore` the number of pages before it; `completion` says
 * how the walk ended, and is undefined where it was left or broke off.
 */
export type ShortWalk = Readonly<Awaited<ReturnType<Examination['walkTwoPages']>>>;

export interface LearntKey {
  readonly key: string;
  readonly value: string | number | boolean | null;
  readonly evidence: string;
}

/**
 * The requests of one examination, which share one budget, and what they have shown so far. An error that a method throws makes
 * every further request pointless.
 *
 * For the report: the `checks`, the learnt `keys`, the number of `requests`, the `error` that ended the examination, whether the
 * service `isReached`, and its clock against ours (`drift`, ms, positive where the service is ahead), by the first answer with a `Date`.
 * For the next requests: the `dialect`, which is the one of the profile (`inForce`) with what was learnt; `items`, the JSON Pointer
 * to the leads of the newest page that had some; the `headers` of the newest answer; and `isServiceStrict`, which `findName` sets
 * where the service fails, or lists nothing, when it does not know a parameter: then each name is sent alone.
 */
export class Examination {
  readonly isLearning: boolean;
  readonly checks: CheckResult[] = [];
  readonly keys: LearntKey[] = [];
  readonly inForce: Dialect;
  dialect: Dialect;
  isServiceStrict = false;
  requests = 0;
  drift: number | undefined;
  isReached = false;
  error: LeadsError | undefined;
  items = '';
  headers: PageFacts['headers'] = {};
  readonly #service: Service;
  /** Whether any answer held a page: until then, a failure cannot be the fault of a parameter. */
  #hasPage = false;
  #hasAnswered429 = false;

  constructor(service: Service, isLearning: boolean) {
    this.isLearning = isLearning;
    this.inForce = service.dialect;
    this.dialect = service.dialect;
    this.#service = {
      ...service,
      http: this.#withinBudget(service.http),
      messages: { ...service.messages, note: () => undefined },
      retries: Math.min(service.retries, mostRetries),
    };
  }

  get params(): RequestParams {
    return requestParamsOf(this.#service.account.baseUrl, this.dialect);
  }

  get waitMs(): number {
    return this.#service.rateGate.waitMs;
  }

  /** The service limits the rate of requests so much that it is asked nothing more. */
  get isRateLimited(): boolean {
    return this.#hasAnswered429 || this.waitMs > longestWaitMs;
  }

  addLearntKey(key: string, value: LearntKey['value'], evidence: string): void {
    this.keys.push({ key: `api.${key}`, value, evidence });
  }

  changeDialect(changes: Dialect): void {
    this.dialect = this.#dialectWith(changes);
  }

  #dialectWith(changes: Dialect): Dialect {
    return { ...this.dialect, ...changes, params: { ...this.dialect.params, ...changes.params } };
  }

  /**
   * Requests one page of the list with these parameters. Returns the error with which the service rejected them, and undefined
   * where no request was left or got through.
   */
  async ask(query: Readonly<Record<string, string>>): Promise<SeenPage | LeadsError | undefined> {
    if (this.isRateLimited) return undefined;
    const { params } = this;
    const url = new URL(params.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const { signal } = this.#service;
    const source = { service: this.#service, params, counters: { requests: 0, retries: 0 }, signal };
    const leads: SeenLead[] = [];
    let facts: PageFacts | undefined;
    try {
      for await (const part of fetchPage(source, url)) {
        // A retry may bring leads that the answer before it has brought.
        if (!part.isRetried) leads.push(...part.leads.slice(0, mostKeptLeads - leads.length).map(seenLead));
        facts = part.facts;
        if (facts === undefined && leads.length >= mostKeptLeads) break;
      }
    } catch (error) {
      return this.#rejectionAfter(error);
    }
    if (facts !== undefined && (leads.length > 0 || !this.#hasPage))
      this.items = formatPointer(facts.envelope.path);
    this.#hasPage = true;
    return { leads, facts };
  }

  /** Walks the list in a changed dialect, with the page size of an export unless another one is given, until two pages are known. */
  async walkTwoPages(changes: Dialect, pageSize?: number) {
    const pages = new Map<number, SeenLead[]>();
    let next: Position | undefined;
    let pagesBefore = 0;
    let rejection: LeadsError | undefined;
    const options = { query: {}, pageSize, acceptUnproven: () => undefined };
    const listing = listLeads({ ...this.#service, dialect: this.#dialectWith(changes) }, options);
    try {
      for await (const batch of this.isRateLimited ? [] : listing) {
        const page = pages.get(listing.stats.pages) ?? [];
        page.push(...batch.leads.map(seenLead));
        if (page.length > 0) pages.set(listing.stats.pages, page);
        if (batch.next !== undefined) [next, pagesBefore] = [batch.next, pages.size];
        if (pages.size > 1 && next !== undefined && !batch.last) break;
      }
    } catch (error) {
      rejection = this.#rejectionAfter(error);
    }
    return { pages: [...pages.values()], next, pagesBefore, completion: listing.completion, rejection };
  }

  /**
   * Returns the error where the service rejected the parameters of a request, and undefined where the request shows nothing of
   * them. Notes that the service answered 429. Throws any other error. Services reject odd parameters in several ways: firewalls
   * answer 403, under a key that was accepted before, and some services answer 500.
   */
  #rejectionAfter(error: unknown): LeadsError | undefined {
    if (error instanceof BudgetSpentError) return undefined;
    if (error instanceof DataError) return error;
    const isFiltered = error instanceof KeyRejectedError && error.status === 403;
    if (!this.#hasPage || !(isFiltered || error instanceof ServiceError)) throw error;
    this.#hasAnswered429 ||= error.status === 429;
    return isFiltered || (error.status ?? 0) >= 500 ? error : undefined;
  }

  #withinBudget(http: HttpClient): HttpClient {
    return {
      request: async (options) => {
        if (this.isRateLimited || this.requests >= mostRequests)
          throw new BudgetSpentError('no request was left');
        this.requests += 1;
        const { clock, rateGate } = this.#service;
        const askedAt = clock.now();
        const answer = await http.request(options);
        this.isReached = true;
        this.headers = answer.headers;
        this.drift ??= driftOf(answer.headers, askedAt, clock.now());
        rateGate.hold(askedWaitMs(answer.headers, undefined, clock.now()) ?? 0);
        return answer;
      },
      destroy: () => http.destroy(),
    };
  }
}

class BudgetSpentError extends DataError {}
