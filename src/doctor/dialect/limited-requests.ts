import type { Dispatcher } from 'undici';
import type { Dialect } from '../../config/dialect.ts';
import { DataError, KeyRejectedError, ServiceError } from '../../errors.ts';
import type { Service } from '../../service/client/service.ts';
import { fetchPage } from '../../service/listing/fetch-page.ts';
import { IncompleteError } from '../../service/listing/incomplete-error.ts';
import { listLeads } from '../../service/listing/list-leads.ts';
import type { PageFacts } from '../../service/pagination/pagination-hints.ts';
import type { Position } from '../../service/pagination/position.ts';
import { type RequestParams, requestParamsOf } from '../../service/pagination/request-params.ts';
import { driftOf } from '../../service/client/service-clock.ts';
import { keyOf, mostCompared, type Seen, seenLead, type SeenLead } from './seen-page.ts';

/** Query parameters by their names. */
export type Query = Readonly<Record<string, string>>;

/** An examination makes no more requests than this, attempts that failed included. */
const mostRequests = 25;

/** A rate limit that lasts longer ends the examination, ms. */
const longestPause = 60_000;

/** The first two pages of a walk, or why there are none. */
export type TwoPages =
  | {
      readonly kind: 'pages';
      readonly first: readonly string[];
      /** Empty where the walk was complete after the first one. */
      readonly second: readonly string[];
      readonly next: Position | undefined;
    }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'unasked' };

/**
 * Asks the list operation a limited number of questions. Throws what makes every further one pointless: a
 * `KeyRejectedError`, a `ServiceError`.
 */
export class DialectAsker {
  /** Names with brackets spoil an answer together with others. */
  areOddNamesUnclear = false;
  /** A position changed the answer, and not to another page. */
  isPositionUnclear = false;
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
    this.#service = { ...service, dispatcher: this.#counting(service.dispatcher) };
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
    try {
      for await (const part of fetchPage(this.#limited(), params, url, { requests: 0, retries: 0 }, signal)) {
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
    if (facts !== undefined) this.#noteRate(facts.headers);
    return { kind: 'page', count, leads, facts };
  }

  /** Walks over two pages as an export does, in another dialect. */
  async walk(dialect: Dialect, pageSize: number | undefined): Promise<TwoPages> {
    // The page behind the first one may have to be looked for.
    if (this.left < 2) return { kind: 'unasked' };
    const listing = listLeads(
      { ...this.#limited(), dialect, messages: withoutNotes(this.#service.messages) },
      { query: {}, pageSize },
    );
    const pages: string[][] = [[]];
    let next: Position | undefined;
    try {
      for await (const batch of listing) {
        pages.at(-1)?.push(...batch.leads.map(keyOf));
        const isPageOver = batch.next !== undefined || batch.last;
        if (pages.length === 1) next = batch.next ?? next;
        if (pages.length > 1 && isPageOver && pages.at(-1)?.length !== 0) break;
        if (isPageOver) pages.push([]);
      }
    } catch (error) {
      if (error instanceof RequestsSpentError) return { kind: 'unasked' };
      const isKnown =
        error instanceof DataError || error instanceof IncompleteError || this.#isFilteredOut(error);
      if (!isKnown && !(error instanceof ServiceError)) throw error;
      return { kind: 'failed', why: await this.#sentenceOf(error) };
    }
    return { kind: 'pages', first: pages[0] ?? [], second: pages.slice(1).flat(), next };
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
  #counting(dispatcher: Dispatcher): Dispatcher {
    const request: Dispatcher['request'] = async (options: Dispatcher.RequestOptions) => {
      if (this.left < 1) throw new RequestsSpentError('no request was left');
      this.#requests += 1;
      const answer = await dispatcher.request(options);
      this.#isReached = true;
      // A body may take long, and a retry longer still.
      this.#drift ??= driftOf(answer.headers, this.#service.clock.now());
      return answer;
    };
    return Object.create(dispatcher, { request: { value: request } }) as Dispatcher;
  }

  #noteRate(headers: PageFacts['headers']): void {
    const { clock, rateGate } = this.#service;
    const now = clock.now();
    this.#rate = readRateHeaders(headers, now) ?? this.#rate;
    const { remaining, resetMs } = this.#rate ?? {};
    if (remaining !== 0 || resetMs === undefined || resetMs <= 0) return;
    rateGate.holdUntil(now + resetMs);
  }
}

/** An examination has made all of its requests. */
class RequestsSpentError extends DataError {}

/** What a walk would note is a finding here. */
const withoutNotes = (messages: Service['messages']): Service['messages'] => ({
  ...messages,
  note: () => undefined,
});

/** What an answer says about the rate limit. */
export interface RateHeaders {
  /** The names of the headers. */
  readonly names: readonly string[];
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  /** How long it is until more requests may be made, ms. */
  readonly resetMs: number | undefined;
}

const prefixes = ['x-ratelimit-', 'x-rate-limit-', 'ratelimit-'];

/** A larger number is a time since the epoch, in seconds. */
const longestWaitSeconds = 86_400 * 31;

/** Reads `X-RateLimit-Limit`, `-Remaining` and `-Reset`, and the same with `RateLimit-`; undefined without any. */
export function readRateHeaders(
  headers: Readonly<Record<string, string | undefined>>,
  now: number,
): RateHeaders | undefined {
  const names = Object.keys(headers).filter(
    (name) => name === 'ratelimit' || prefixes.some((prefix) => name.startsWith(prefix)),
  );
  if (names.length === 0) return undefined;
  const number = (part: string): number | undefined => {
    for (const prefix of prefixes) {
      const found = /^\s*(\d{1,13})/.exec(headers[prefix + part] ?? '')?.[1];
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
