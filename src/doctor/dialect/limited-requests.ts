import type { Dialect } from '../../config/dialect.ts';
import { DataError, KeyRejectedError, ServiceError } from '../../errors.ts';
import type { HttpClient } from '../../http/client/http-client.ts';
import { driftOf, type Service } from '../../service/client/service.ts';
import { fetchPage } from '../../service/fetch-page.ts';
import type { Completion } from '../../service/listing-types.ts';
import { listLeads } from '../../service/listing.ts';
import type { PageFacts } from '../../service/pagers/hints.ts';
import type { Position } from '../../service/pagers/position.ts';
import { type RequestParams, requestParamsOf } from '../../service/pagers/request-params.ts';
import type { DialectEvidence, RateHeaders } from '../problems.ts';
import { mostCompared, type Seen, seenLead, type SeenLead } from './seen-page.ts';

/** Query parameters by their names. */
export type Query = Readonly<Record<string, string>>;

/** An examination makes no more requests than this, attempts that failed included. */
const mostRequests = 30;

/** A rate limit that lasts longer ends the examination, ms. */
const longestPause = 60_000;

/** The first pages of a walk as an export makes it. */
export interface Walked {
  /** The leads of each page that was not met before, empty pages left out. */
  readonly pages: readonly (readonly SeenLead[])[];
  /** A page that was asked for behind the first one, and how many pages lie in front of it. */
  readonly next: { readonly position: Position; readonly pagesBefore: number } | undefined;
  /** How it came to its end; undefined where it did not, or no request was left. */
  readonly completion: Completion | undefined;
  /** Why the walk went wrong. */
  readonly failure: DialectEvidence | undefined;
}

/**
 * Asks the list operation a limited number of questions. Throws what makes every further one pointless: a
 * `KeyRejectedError`, a `ServiceError`.
 */
export class DialectAsker {
  /** Names with brackets spoil an answer together with others. */
  areOddNamesUnclear = false;
  readonly #service: Service;
  #params: RequestParams;
  #dialect: Dialect;
  /** On the wire, redirects and attempts that failed included. */
  #requests = 0;
  /** Of the newest answer. */
  #rate: RateHeaders | undefined;
  #isUsedUp = false;
  #hasAnswered = false;
  #drift: number | undefined;
  #isReached = false;

  constructor(service: Service, dialect: Dialect) {
    this.#service = { ...service, http: this.#counting(service.http) };
    this.#dialect = dialect;
    this.#params = requestParamsOf(service.account.baseUrl, dialect);
  }

  get params(): RequestParams {
    return this.#params;
  }

  get dialect(): Dialect {
    return this.#dialect;
  }

  get requests(): number {
    return this.#requests;
  }

  get left(): number {
    return this.refusedFor === undefined ? mostRequests - this.#requests : 0;
  }

  /** How long the service refuses further requests, where that ended the questions; ms, undefined where it did not say. */
  get refusedFor(): { readonly ms: number | undefined } | undefined {
    const { waitMs } = this.#service.rateGate;
    if (!this.#isUsedUp && waitMs <= longestPause) return undefined;
    return { ms: waitMs > 0 ? waitMs : undefined };
  }

  get rate(): RateHeaders | undefined {
    return this.#rate;
  }

  /** The service's clock against ours by its first answer with a `Date`, ms; undefined without one. */
  get drift(): number | undefined {
    return this.#drift;
  }

  /** Whether any answer came, a rejection included. */
  get isReached(): boolean {
    return this.#isReached;
  }

  /** The list operation with this query, on top of that which its path carries. */
  async ask(query: Query): Promise<Seen> {
    const params = this.#params;
    if (this.left < 1) return { kind: 'unasked' };
    const url = new URL(params.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const leads: SeenLead[] = [];
    let count = 0;
    let facts: PageFacts | undefined;
    const { signal } = this.#service;
    const source = { service: this.#limited(), params, counters: { requests: 0, retries: 0 }, signal };
    try {
      for await (const part of fetchPage(source, url)) {
        if (part.again) continue;
        for (const lead of part.leads.slice(0, mostCompared - leads.length)) leads.push(seenLead(lead));
        count += part.leads.length;
        facts = part.facts;
        // Of a very large page the beginning is enough.
        if (facts === undefined && leads.length >= mostCompared) break;
      }
    } catch (error) {
      if (error instanceof RequestsSpentError) return { kind: 'unasked' };
      if (error instanceof ServiceError && this.#hasAnswered) {
        // What does not get through now shows nothing of the parameters; a rate limit that lasts ends the questions.
        if (error.status === 429) this.#isUsedUp = true;
        // Some services fail at parameters that they do not expect.
        if ((error.status ?? 0) < 500) return { kind: 'unasked' };
      } else if (!(error instanceof DataError) && !this.#isFilteredOut(error)) throw error;
      return { kind: 'rejected', status: error.status, message: await this.#sentenceOf(error), error };
    }
    this.#hasAnswered = true;
    return { kind: 'page', count, leads, facts };
  }

  /** Walks over a few pages as an export does, probes included, in another dialect. */
  async walk(dialect: Dialect, pageSize: number | undefined, mostPages = 2): Promise<Walked> {
    const pages: SeenLead[][] = [];
    let next: Walked['next'];
    let completion: Completion | undefined;
    let failure: Walked['failure'];
    // The page behind the first one may have to be looked for.
    if (this.left < 2) return { pages, next, completion, failure };
    const listing = listLeads(
      { ...this.#limited(), dialect, messages: withoutNotes(this.#service.messages) },
      { query: {}, pageSize, acceptUnproven: () => undefined },
    );
    try {
      for await (const { leads, next: position, last } of listing) {
        const read = listing.stats.pages;
        if (leads.length > 0) (pages[Math.max(0, read - 1)] ??= []).push(...leads.map(seenLead));
        if (position !== undefined) next ??= { position, pagesBefore: read };
        if (pages.length >= mostPages && !last) break;
      }
      ({ completion } = listing);
    } catch (error) {
      const isKnown =
        error instanceof DataError || error instanceof ServiceError || this.#isFilteredOut(error);
      if (!isKnown) throw error;
      if (error.status === 429) this.#isUsedUp = true;
      else if (!(error instanceof RequestsSpentError))
        failure = { kind: 'said', text: await this.#sentenceOf(error) };
    }
    return { pages: pages.filter((page) => page.length > 0), next, completion, failure };
  }

  async #sentenceOf(error: unknown): Promise<string> {
    return (await this.#service.texts()).sentenceOf(error);
  }

  /** Firewalls answer 403 to parameters with odd names, under a key that was accepted before. */
  #isFilteredOut(error: unknown): error is KeyRejectedError {
    return this.#hasAnswered && error instanceof KeyRejectedError && error.status === 403;
  }

  /** From now on the service is asked in this dialect. */
  adopt(changes: Dialect): void {
    this.#dialect = this.with(changes);
    this.#params = requestParamsOf(this.#service.account.baseUrl, this.#dialect);
  }

  /** The dialect in force with changes. */
  with(changes: Dialect): Dialect {
    return { ...this.#dialect, ...changes, params: { ...this.#dialect.params, ...changes.params } };
  }

  /** No more attempts than there are requests left. */
  #limited(): Service {
    const { retries } = this.#service;
    return {
      ...this.#service,
      retries: Math.max(0, Math.min(retries, this.left > mostRequests / 2 ? 2 : 1, this.left - 1)),
    };
  }

  /** The same connections, which refuse what goes beyond the number of requests. */
  #counting(http: HttpClient): HttpClient {
    return {
      request: async (options) => {
        if (this.left < 1) throw new RequestsSpentError({ kind: 'requests-spent' });
        this.#requests += 1;
        const askedAt = this.#service.clock.now();
        const answer = await http.request(options);
        this.#isReached = true;
        // A body may take long, and a retry longer still.
        this.#drift ??= driftOf(answer.headers, askedAt, this.#service.clock.now());
        this.#noteRate(answer.headers);
        return answer;
      },
      destroy: () => http.destroy(),
    };
  }

  #noteRate(headers: Parameters<typeof readRateHeaders>[0]): void {
    const { clock, rateGate } = this.#service;
    this.#rate = readRateHeaders(headers, clock.now()) ?? this.#rate;
    const { remaining, resetMs } = this.#rate ?? {};
    if (remaining !== 0 || resetMs === undefined || resetMs <= 0) return;
    rateGate.hold(resetMs);
  }
}

/** An examination has made all of its requests. */
class RequestsSpentError extends DataError {}

/** What a walk would note is a finding here. */
const withoutNotes = (messages: Service['messages']): Service['messages'] => ({
  ...messages,
  note: () => undefined,
});

const prefixes = ['x-ratelimit-', 'x-rate-limit-', 'ratelimit-'];

/** A larger number is a time since the epoch, in seconds. */
const longestWaitSeconds = 86_400 * 31;

/** Reads `X-RateLimit-Limit`, `-Remaining` and `-Reset`, and the same with `RateLimit-`; undefined without any. */
export function readRateHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  now: number,
): RateHeaders | undefined {
  const names = Object.keys(headers).filter(
    (name) => name === 'ratelimit' || prefixes.some((prefix) => name.startsWith(prefix)),
  );
  if (names.length === 0) return undefined;
  const number = (part: string): number | undefined => {
    for (const prefix of prefixes) {
      const found = /^\s*(\d{1,13})/.exec(String(headers[prefix + part] ?? ''))?.[1];
      if (found !== undefined) return Number(found);
    }
    return undefined;
  };
  const reset = number('reset');
  const resetMs =
    reset === undefined
      ? undefined
      : reset <= longestWaitSeconds
        ? reset * 1000
        : (reset > 1e11 ? reset : reset * 1000) - now;
  return { names, limit: number('limit'), remaining: number('remaining'), resetMs };
}
