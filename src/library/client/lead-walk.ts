import { createHash } from 'node:crypto';
import { UsageError } from '../../errors.ts';
import { library } from '../../front.ts';
import { createAgent } from '../../http/client/agent.ts';
import { leadMatcher } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { noteMessages } from '../../output/messages.ts';
import { noteFilters } from '../../output/walk-notes.ts';
import { Secret } from '../../secret.ts';
import type { RateGate } from '../../service/client/rate-limit.ts';
import { listLeads } from '../../service/listing.ts';
import {
  type Batch,
  IncompleteError,
  type ListingOptions,
  mayHelpFromStart,
} from '../../service/listing-types.ts';
import { type Position, start } from '../../service/pagers/position.ts';
import { type Checkpoint, readLeadCheckpoint, type StoredCheckpoint } from './lead-checkpoint.ts';
import {
  checkKey,
  type ClientOptions,
  type LeadFilterOptions,
  type LeadsOptions,
  resolveFilterOptions,
} from './client-options.ts';
import { LazyLead, type PulledLead } from '../webhook/lead.ts';
import type { Service } from '../../service/client/service.ts';
import { systemClock } from '../../time/clock.ts';
import { isoTime } from '../../time/time-text.ts';

export interface ClientAccount extends ClientOptions {
  readonly baseUrl: URL;
  readonly rateGate: RateGate;
}

/**
 * A reading of a service's list, and its position. `#page` is the start of the page that is being read, and null at
 * a complete end. `#seen` holds all ids that the list gave, to which `listLeads` adds as it reads: the first
 * `#seenBeforePage` of them came on the pages before. `#delivered` are the leads of this page that the loop received.
 * A checkpoint stores these three, so that an iteration which continues reads the page again and skips those leads.
 */
export class LeadWalk {
  readonly #account: ClientAccount;
  readonly #filter: LeadFilterOptions;
  readonly #options: LeadsOptions;
  readonly #startedAt: number;
  readonly #seen = new IdSet();
  #page: Position | null = start;
  #seenBeforePage = 0;
  readonly #delivered = new DeliveredFromPage();

  /** `startedAt` in milliseconds. Throws a `UsageError` for a checkpoint of another iteration. */
  constructor(account: ClientAccount, filter: LeadFilterOptions, options: LeadsOptions, startedAt: number) {
    this.#account = account;
    this.#filter = filter;
    this.#options = options;
    this.#startedAt = startedAt;
    if (options.from === undefined || options.from === null) return;
    const from = readLeadCheckpoint(options.from, (time) => this.#identity(time));
    this.#startedAt = from.startedAt;
    this.#page = from.position;
    for (const id of from.ids) this.#seen.preloadStored(Buffer.from(id, 'latin1'));
    this.#seenBeforePage = this.#seen.size;
    this.#delivered.continueFrom(from);
  }

  checkpoint(): Checkpoint {
    const checkpoint: StoredCheckpoint = {
      version: 1,
      startedAt: this.#startedAt,
      of: this.#identity(this.#startedAt),
      position: this.#page,
      ids: Array.from(this.#seen.stored(this.#seenBeforePage), (id) => Buffer.from(id).toString('latin1')),
      withoutId: this.#delivered.hasWithoutId,
      since: this.#delivered.stored(),
    };
    return checkpoint;
  }

  async *leads(): AsyncGenerator<PulledLead, void, undefined> {
    if (this.#page === null) return;
    const isResumed = (this.#options.from ?? null) !== null;
    const { acceptIncomplete, signal } = this.#options;
    const { query, filter } = resolveFilterOptions(this.#filter, this.#startedAt);
    const matcher = leadMatcher(filter);
    const { service, close } = await openService(this.#account, this.#options);
    try {
      const batches = this.#batches(service, this.#page, {
        query,
        seen: this.#seen,
        prefetch: true,
        acceptUnproven: acceptUnproven(acceptIncomplete),
      });
      for await (const { leads, next } of batches) {
        for (const lead of leads) {
          if (!matcher.matches(lead)) continue;
          signal?.throwIfAborted();
          if (this.#delivered.recordDelivery(lead)) yield new LazyLead(lead.id, lead.bytes);
        }
        if (next !== undefined) this.#turnPage(next);
      }
      // A resumed iteration did not see the leads before its checkpoint: these may have had the fields of the filter.
      if (!isResumed) noteFilters(matcher, service.messages, 'where');
      this.#page = null;
    } catch (error) {
      if (error instanceof IncompleteError && this.#canGoBack()) this.#turnPage(start);
      throw error;
    } finally {
      await close();
    }
  }

  /**
   * Continues at `from`. Where the list cannot be completed from there, it is read from its start, and the leads that
   * are known are dropped.
   */
  async *#batches(
    service: Service,
    from: Position,
    options: ListingOptions,
  ): AsyncGenerator<Batch, void, undefined> {
    const goesBackToStart = this.#canGoBack();
    const resumed = { ...options, from, goesBackToStart };
    if (from.style === 'start' || !goesBackToStart) return yield* this.#list(service, resumed);
    let hasAnswered = false;
    try {
      // An unproven end is accepted only after the reading from the start.
      for await (const batch of this.#list(service, { ...resumed, acceptUnproven: undefined })) {
        hasAnswered = true;
        yield batch;
      }
      return;
    } catch (error) {
      // A record without an id may have been delivered since `goesBackToStart` was set.
      const unanswered = hasAnswered ? undefined : service;
      if (!this.#canGoBack() || !mayHelpFromStart(error, unanswered)) throw error;
    }
    yield* this.#batchesFromStart(service, options);
  }

  /**
   * The checkpoint is moved to the start once the first page was read: if that page fails as well, the failure says
   * nothing about the position. It stays there while pages are read. A listing that continues at a later page adds to
   * the leads that were met before only those that are new, so known leads on its pages would not be counted, and the
   * service's total would not be reached. With a record without an id, which a reading from the start would deliver
   * twice, the checkpoint has to move on all the same.
   */
  async *#batchesFromStart(
    service: Service,
    options: ListingOptions,
  ): AsyncGenerator<Batch, void, undefined> {
    const seenBefore = this.#seen.size;
    let isFirstBatch = true;
    for await (const batch of this.#list(service, options)) {
      if (isFirstBatch) this.#turnPage(start, seenBefore);
      isFirstBatch = false;
      const hasWithoutId = this.#delivered.hasWithoutId || batch.leads.some(({ id }) => id === undefined);
      yield hasWithoutId ? batch : { ...batch, next: batch.next && start };
    }
  }

  async *#list(service: Service, options: ListingOptions): AsyncGenerator<Batch, void, undefined> {
    const interruptedRun = this.#delivered.asInterruptedRun(this.#seen);
    yield* listLeads(service, { ...options, interruptedRun });
  }

  /** The list may be reread from its start, unless records without an id would be delivered twice. */
  #canGoBack(): boolean {
    return !this.#delivered.hasWithoutId;
  }

  /** By default all ids came before `next`: a page that was requested ahead adds its ids only when it is read. */
  #turnPage(next: Position, seenBefore = this.#seen.size): void {
    this.#page = next;
    this.#seenBeforePage = seenBefore;
    this.#delivered.clear();
  }

  #identity(startedAt: number): Record<string, unknown> {
    const { query, filter } = resolveFilterOptions(this.#filter, startedAt);
    const { baseUrl, dialect = {} } = this.#account;
    return {
      service: baseUrl.href,
      path: dialect.path ?? null,
      id: dialect.id ?? null,
      item: dialect.item ?? null,
      status: query.status ?? null,
      categories: filter.categories,
      since: isoTime(query.since),
      until: isoTime(query.until),
      where: filter.where,
    };
  }
}

function acceptUnproven(
  acceptIncomplete: LeadsOptions['acceptIncomplete'],
): ListingOptions['acceptUnproven'] {
  if (acceptIncomplete === undefined || acceptIncomplete === false) return undefined;
  return ({ reason }) => {
    if (acceptIncomplete !== true) acceptIncomplete(reason.message);
  };
}

/**
 * The leads that were delivered from the page that is being read: by this iteration, and in `#earlier` those of the
 * iteration before it, which come again and are skipped once each. `clear` begins the next page and keeps `#earlier`,
 * since a lead may have moved to a later page meanwhile. A record without an id is known by the digest of its bytes.
 */
class DeliveredFromPage {
  #ids: string[] = [];
  #digests: string[] = [];
  #earlier = { ids: new Set<string>(), digests: [] as string[] };
  /** Whether a record without an id was delivered from any page. */
  hasWithoutId = false;

  continueFrom({ withoutId, since: { ids, digests } }: StoredCheckpoint): void {
    this.hasWithoutId = withoutId;
    this.#earlier = { ids: new Set(ids), digests: [...digests] };
  }

  /** Returns false when an earlier iteration delivered the lead already. */
  recordDelivery(lead: RawLead): boolean {
    const { id } = lead;
    if (id !== undefined) {
      this.#ids.push(id);
      return !this.#earlier.ids.delete(id);
    }
    this.hasWithoutId = true;
    const digest = createHash('sha256').update(lead.bytes).digest('base64');
    this.#digests.push(digest);
    const index = this.#earlier.digests.indexOf(digest);
    if (index >= 0) this.#earlier.digests.splice(index, 1);
    return index < 0;
  }

  /** Returns the leads that earlier iterations listed, or delivered from the page at which they stopped. */
  asInterruptedRun(listedIds: IdSet): NonNullable<ListingOptions['interruptedRun']> {
    const { ids } = this.#earlier;
    return {
      size: listedIds.size + ids.size,
      has: (id) => listedIds.has(id) || ids.has(id),
      isPart: this.hasWithoutId,
    };
  }

  clear(): void {
    this.#ids = [];
    this.#digests = [];
  }

  stored(): StoredCheckpoint['since'] {
    return {
      ids: [...this.#ids, ...this.#earlier.ids],
      digests: [...this.#digests, ...this.#earlier.digests],
    };
  }
}

const defaultTimeoutMs = 30_000;
const defaultRetries = 5;

/**
 * Opens the service with connections of its own, which `close` cuts. Rejects with a `UsageError` where the
 * function that returns the key fails.
 */
async function openService(
  account: ClientAccount,
  { signal, onNote = () => undefined }: Pick<LeadsOptions, 'signal' | 'onNote'>,
): Promise<{ readonly service: Service; readonly close: () => Promise<void> }> {
  signal?.throwIfAborted();
  const { baseUrl, dialect = {}, timeoutMs = defaultTimeoutMs, retries = defaultRetries, env = {} } = account;
  const key = await keyFrom(account.apiKey);
  const http = createAgent({ env, dataDir: undefined, timeoutMs });
  const service: Service = {
    account: { baseUrl, apiKey: new Secret(key) },
    dialect,
    http,
    messages: noteMessages(onNote),
    front: library,
    rateGate: account.rateGate,
    clock: systemClock,
    random: Math.random,
    signal: signal ?? new AbortController().signal,
    timeoutMs,
    retries,
  };
  return { service, close: () => http.destroy() };
}

async function keyFrom(apiKey: ClientOptions['apiKey']): Promise<string> {
  let key: unknown;
  try {
    key = typeof apiKey === 'function' ? await apiKey() : apiKey;
  } catch (cause) {
    throw new UsageError('the function apiKey failed', { cause });
  }
  checkKey(key);
  return key;
}
