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

/** An examination makes no more requests than this, redirects and requests that failed included. */
const mostRequests = 25;
const mostRetries = 2;
const longestWaitMs = 60_000;
const mostComparedOfPage = 1000;

const seenLead = (lead: RawLead) => ({
  /** Its id, or its bytes where it has none. */
  key: lead.id ?? Buffer.from(lead.bytes).toString('latin1'),
  hasId: lead.id !== undefined,
  createdAt: readCreatedAt(lead.createdAt),
  record: parseLead(lead),
});

export type SeenLead = Readonly<ReturnType<typeof seenLead>>;

export const keysOf = (leads: readonly SeenLead[]): string[] => leads.map(({ key }) => key);

export interface SeenPage {
  readonly leads: readonly SeenLead[];
  /** Undefined where a very large answer was not read to its end. */
  readonly facts: PageFacts | undefined;
}

/** The new leads of the first two pages that brought any, and how the walk goes on or ended. */
export type Walked = Readonly<Awaited<ReturnType<Examination['walk']>>>;

export interface LearntKey {
  readonly key: string;
  readonly value: string | number | boolean | null;
  readonly evidence: string;
}

/** The requests of one examination, within one budget, and its results so far. An error that its methods throw ends it. */
export class Examination {
  readonly isLearning: boolean;
  readonly checks: CheckResult[] = [];
  readonly keys: LearntKey[] = [];
  readonly inForce: Dialect;
  /** The dialect in force, changed by what was learnt: the next request uses it. */
  dialect: Dialect;
  /** The service fails, or finds nothing, where it does not know a parameter: names are tried alone. */
  isStrict = false;
  requests = 0;
  /** The service's clock against ours, ms, by the first answer with a `Date`. */
  drift: number | undefined;
  isReached = false;
  /** A failure that makes every further request pointless. */
  error: LeadsError | undefined;
  /** JSON Pointer to the leads of the newest page that had some. */
  items = '';
  headers: PageFacts['headers'] = {};
  readonly #service: Service;
  #hasAnswered = false;
  /** The service answered 429: it is asked nothing more. */
  #isLimited = false;

  constructor(service: Service, isLearning: boolean) {
    this.isLearning = isLearning;
    this.inForce = service.dialect;
    this.dialect = service.dialect;
    this.#service = {
      ...service,
      http: this.#counting(service.http),
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

  /** No further request is made: the service's limit is reached, or the wait until the next one is too long. */
  get isRefused(): boolean {
    return this.#isLimited || this.waitMs > longestWaitMs;
  }

  learn(key: string, value: LearntKey['value'], evidence: string): void {
    this.keys.push({ key: `api.${key}`, value, evidence });
  }

  set(changes: Dialect): void {
    this.dialect = this.#with(changes);
  }

  #with(changes: Dialect): Dialect {
    return { ...this.dialect, ...changes, params: { ...this.dialect.params, ...changes.params } };
  }

  /**
   * Requests one page of the list with these parameters. Gives the error with which the service rejected them, and undefined where
   * no request was left or got through.
   */
  async ask(query: Readonly<Record<string, string>>): Promise<SeenPage | LeadsError | undefined> {
    if (this.isRefused) return undefined;
    const { params } = this;
    const url = new URL(params.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const { signal } = this.#service;
    const source = { service: this.#service, params, counters: { requests: 0, retries: 0 }, signal };
    const leads: SeenLead[] = [];
    let facts: PageFacts | undefined;
    try {
      for await (const part of fetchPage(source, url)) {
        if (!part.isRetried)
          leads.push(...part.leads.slice(0, mostComparedOfPage - leads.length).map(seenLead));
        facts = part.facts;
        if (facts === undefined && leads.length >= mostComparedOfPage) break;
      }
    } catch (error) {
      return this.#rejectionIn(error);
    }
    if (facts !== undefined && (leads.length > 0 || !this.#hasAnswered))
      this.items = formatPointer(facts.envelope.path);
    this.#hasAnswered = true;
    return { leads, facts };
  }

  /** The first two pages of a walk in a changed dialect, with the page size of an export unless another one is given. */
  async walk(changes: Dialect, pageSize?: number) {
    const pages = new Map<number, SeenLead[]>();
    let [next, pagesBefore]: [Position | undefined, number] = [undefined, 0];
    let rejection: LeadsError | undefined;
    const options = { query: {}, pageSize, acceptUnproven: () => undefined };
    const listing = listLeads({ ...this.#service, dialect: this.#with(changes) }, options);
    try {
      for await (const batch of this.isRefused ? [] : listing) {
        const page = pages.get(listing.stats.pages) ?? [];
        page.push(...batch.leads.map(seenLead));
        if (page.length > 0) pages.set(listing.stats.pages, page);
        if (batch.next !== undefined) [next, pagesBefore] = [batch.next, pages.size];
        if (pages.size > 1 && next !== undefined && !batch.last) break;
      }
    } catch (error) {
      rejection = this.#rejectionIn(error);
    }
    return { pages: [...pages.values()], next, pagesBefore, completion: listing.completion, rejection };
  }

  #rejectionIn(error: unknown): LeadsError | undefined {
    if (error instanceof BudgetSpentError) return undefined;
    if (error instanceof DataError) return error;
    // Firewalls answer 403 to parameters with odd names, under a key that was accepted before.
    const isFiltered = error instanceof KeyRejectedError && error.status === 403;
    if (!this.#hasAnswered || !(isFiltered || error instanceof ServiceError)) throw error;
    this.#isLimited ||= error.status === 429;
    // Some services fail at parameters that they do not expect.
    return isFiltered || (error.status ?? 0) >= 500 ? error : undefined;
  }

  #counting(http: HttpClient): HttpClient {
    return {
      request: async (options) => {
        if (this.isRefused || this.requests >= mostRequests)
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
