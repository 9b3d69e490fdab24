import type { CheckResult } from '../check-result.ts';
import type { Dialect } from '../../config/dialect.ts';
import { DataError, KeyRejectedError, type LeadsError, ServiceError } from '../../errors.ts';
import type { HttpClient } from '../../http/client/http-client.ts';
import { askedWaitMs } from '../../service/client/rate-limit.ts';
import { driftOf, type Service } from '../../service/client/service.ts';
import { formatPointer } from '../../json/exact.ts';
import { fetchPage } from '../../service/fetch-page.ts';
import type { Completion } from '../../service/listing-types.ts';
import { listLeads } from '../../service/listing.ts';
import type { PageFacts } from '../../service/pagers/hints.ts';
import type { Position } from '../../service/pagers/position.ts';
import { type RequestParams, requestParamsOf } from '../../service/pagers/request-params.ts';
import { seenLead, type SeenLead } from './seen-leads.ts';

/** Query parameters by their names. */
export type Query = Readonly<Record<string, string>>;

/** An examination makes no more requests than this, redirects and attempts that failed included. */
const mostRequests = 25;
/** A rate limit that lasts longer ends the examination, ms. */
const longestPause = 60_000;
/** So many leads of one answer are compared; the rest of a very large one is not read. */
const mostCompared = 1000;

export interface SeenPage {
  readonly kind: 'page';
  readonly leads: readonly SeenLead[];
  /** Undefined where a very large answer was not read to its end. */
  readonly facts: PageFacts | undefined;
}

/** The service rejected a request, or answered something else than a page. */
export interface Rejection {
  readonly kind: 'rejected';
  readonly error: LeadsError;
}

/** What came of one request: a page, a rejection, or nothing, where no request was left or none got through. */
export type Seen = SeenPage | Rejection | { readonly kind: 'unasked' };

/** The beginning of a walk as an export makes it. */
export interface Walked {
  /** The new leads of the first two pages that brought any. */
  readonly pages: readonly (readonly SeenLead[])[];
  /** Where the next page begins; undefined where the service has not shown how it pages. */
  readonly next: Position | undefined;
  /** So many pages were read before it. */
  readonly pagesBefore: number;
  /** Undefined where the walk did not come to its end. */
  readonly completion: Completion | undefined;
  readonly rejection: Rejection | undefined;
}

/** Asks the list operation, and is the one budget of requests. Throws what makes every further request pointless. */
export class Asker {
  /** In which the service is asked from now on. */
  dialect: Dialect;
  /** The service fails, or finds nothing, where it does not know a parameter: names are tried alone. */
  isStrict = false;
  requests = 0;
  /** The service's clock against ours, ms, by the first answer with a `Date`. */
  drift: number | undefined;
  isReached = false;
  /** Where the newest page had its leads, as a JSON Pointer. */
  items = '';
  /** Of the newest answer. */
  headers: PageFacts['headers'] = {};
  readonly #service: Service;
  #hasAnswered = false;
  #isUsedUp = false;

  constructor(service: Service) {
    this.dialect = service.dialect;
    this.#service = { ...service, http: this.#counting(service.http) };
  }

  get params(): RequestParams {
    return requestParamsOf(this.#service.account.baseUrl, this.dialect);
  }

  get left(): number {
    return this.isRefused ? 0 : mostRequests - this.requests;
  }

  /** The service takes no more requests for a while. */
  get isRefused(): boolean {
    return this.#isUsedUp || this.waitMs > longestPause;
  }

  get waitMs(): number {
    return this.#service.rateGate.waitMs;
  }

  set(changes: Dialect): void {
    this.dialect = this.with(changes);
  }

  /** The dialect in force with changes. */
  with(changes: Dialect): Dialect {
    return { ...this.dialect, ...changes, params: { ...this.dialect.params, ...changes.params } };
  }

  /** One page of the list with these parameters. */
  async ask(query: Query): Promise<Seen> {
    if (this.left < 1) return { kind: 'unasked' };
    const { params } = this;
    const url = new URL(params.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const leads: SeenLead[] = [];
    let facts: PageFacts | undefined;
    const { signal } = this.#service;
    const source = { service: this.#limited(), params, counters: { requests: 0, retries: 0 }, signal };
    try {
      for await (const part of fetchPage(source, url)) {
        if (!part.again) leads.push(...part.leads.slice(0, mostCompared - leads.length).map(seenLead));
        facts = part.facts;
        if (facts === undefined && leads.length >= mostCompared) break;
      }
    } catch (error) {
      return this.#rejectionIn(error) ?? { kind: 'unasked' };
    }
    if (facts !== undefined && (leads.length > 0 || !this.#hasAnswered))
      this.items = formatPointer(facts.envelope.path);
    this.#hasAnswered = true;
    return { kind: 'page', leads, facts };
  }

  /** The first two pages of a walk in another dialect, with the page size of an export unless another one is given. */
  async walk(dialect: Dialect, pageSize?: number): Promise<Walked> {
    const pages: SeenLead[][] = [];
    let [next, pagesBefore]: [Position | undefined, number] = [undefined, 0];
    let rejection: Rejection | undefined;
    const messages = { ...this.#service.messages, note: () => undefined };
    const options = { query: {}, pageSize, acceptUnproven: () => undefined };
    const listing = listLeads({ ...this.#limited(), dialect, messages }, options);
    try {
      for await (const batch of this.left < 2 ? [] : listing) {
        if (batch.leads.length > 0) (pages[listing.stats.pages] ??= []).push(...batch.leads.map(seenLead));
        const read = Object.keys(pages).length;
        if (batch.next !== undefined) [next, pagesBefore] = [batch.next, read];
        if (read > 1 && next !== undefined && !batch.last) break;
      }
    } catch (error) {
      rejection = this.#rejectionIn(error);
    }
    return { pages: Object.values(pages), next, pagesBefore, completion: listing.completion, rejection };
  }

  /** The rejection that an error shows; undefined where it says nothing of what was asked for. */
  #rejectionIn(error: unknown): Rejection | undefined {
    if (error instanceof BudgetSpentError) return undefined;
    // Firewalls answer 403 to parameters with odd names, under a key that was accepted before.
    const isFiltered = error instanceof KeyRejectedError && error.status === 403;
    const isFailure = error instanceof ServiceError;
    if (!(error instanceof DataError) && !(this.#hasAnswered && (isFiltered || isFailure))) throw error;
    this.#isUsedUp ||= error.status === 429;
    // Some services fail at parameters that they do not expect.
    if (isFailure && (error.status ?? 0) < 500) return undefined;
    return { kind: 'rejected', error };
  }

  /** The same service with no more attempts than there are requests left. */
  #limited(): Service {
    const most = this.left > mostRequests / 2 ? 2 : 1;
    return { ...this.#service, retries: Math.max(0, Math.min(this.#service.retries, most, this.left - 1)) };
  }

  #counting(http: HttpClient): HttpClient {
    return {
      request: async (options) => {
        if (this.left < 1) throw new BudgetSpentError('no request was left');
        this.requests += 1;
        const { clock, rateGate } = this.#service;
        const askedAt = clock.now();
        const answer = await http.request(options);
        this.isReached = true;
        this.drift ??= driftOf(answer.headers, askedAt, clock.now());
        this.headers = answer.headers;
        rateGate.hold(askedWaitMs(answer.headers, undefined, clock.now()) ?? 0);
        return answer;
      },
      destroy: () => http.destroy(),
    };
  }
}

class BudgetSpentError extends DataError {}

/** A key of the dialect that the answers prove. */
export interface LearntKey {
  /** As `leads config` names it. */
  readonly key: string;
  readonly value: string | number | boolean | null;
  /** What was seen, as a sentence. */
  readonly evidence: string;
}

/** An examination of the list operation, and what it has found so far. */
export interface Examination {
  readonly asker: Asker;
  /** The dialect of the profile. */
  readonly inForce: Dialect;
  /** Other names are tried than those in force. */
  readonly isLearning: boolean;
  readonly checks: CheckResult[];
  readonly keys: LearntKey[];
}

export function learn(
  { keys }: Pick<Examination, 'keys'>,
  key: string,
  value: LearntKey['value'] | undefined,
  evidence: string,
): void {
  if (value !== undefined) keys.push({ key: `api.${key}`, value, evidence });
}
