import { createHash } from 'node:crypto';
import { leadFilter } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { noteFilters } from '../../output/walk-notes.ts';
import { listLeads } from '../../service/listing.ts';
import {
  type Batch,
  IncompleteError,
  type ListingOptions,
  mayHelpFromStart,
} from '../../service/listing-types.ts';
import type { Position } from '../../service/pagers/position.ts';
import { type Checkpoint, readLeadCheckpoint, type StoredCheckpoint } from './lead-checkpoint.ts';
import { type LeadFilterOptions, type LeadsOptions, resolveFilterOptions } from './client-options.ts';
import { type ClientAccount, openClientService } from './client-service.ts';
import { LazyLead, type PulledLead } from '../webhook/lead.ts';
import type { Service } from '../../service/client/service.ts';

const start: Position = { style: 'start' };

/** A reading of a service's list, and its position. */
export class LeadWalk {
  readonly #account: ClientAccount;
  readonly #filter: LeadFilterOptions;
  readonly #options: LeadsOptions;
  readonly #startedAt: number;
  /**
   * All ids that the list gave, which `listLeads` adds as it reads; a checkpoint stores those of the pages before `#here`. For the
   * page at `#here`, `HandedOut` knows the delivered ids: in `#ids` those of this iteration, and in `#expected` those of
   * the one before it, which come again.
   */
  readonly #seen = new IdSet();
  /** The start of the page that is being read; null at a complete end. */
  #here: Position | null = start;
  /** The number of ids in `#seen` that came before that page. */
  #metBefore = 0;
  readonly #handedOut = new HandedOut();

  /** `startedAt` in milliseconds. Throws a `UsageError` for a checkpoint of another iteration. */
  constructor(account: ClientAccount, filter: LeadFilterOptions, options: LeadsOptions, startedAt: number) {
    this.#account = account;
    this.#filter = filter;
    this.#options = options;
    this.#startedAt = startedAt;
    if (options.from === undefined || options.from === null) return;
    const from = readLeadCheckpoint(options.from, (time) => this.#identity(time));
    this.#startedAt = from.startedAt;
    this.#here = from.position;
    for (const id of from.ids) this.#seen.preloadStored(Buffer.from(id, 'latin1'));
    this.#metBefore = this.#seen.size;
    this.#handedOut.expect(from);
  }

  checkpoint(): Checkpoint {
    const checkpoint: StoredCheckpoint = {
      version: 1,
      startedAt: this.#startedAt,
      of: this.#identity(this.#startedAt),
      position: this.#here,
      ids: Array.from(this.#seen.stored(this.#metBefore), (id) => Buffer.from(id).toString('latin1')),
      withoutId: this.#handedOut.hasWithoutId,
      since: this.#handedOut.keys(),
    };
    return checkpoint;
  }

  async *leads(): AsyncGenerator<PulledLead, void, undefined> {
    if (this.#here === null) return;
    const isResumed = (this.#options.from ?? null) !== null;
    const { acceptIncomplete, signal } = this.#options;
    const { query, filter } = resolveFilterOptions(this.#filter, this.#startedAt);
    const matcher = leadFilter(filter);
    let close: (() => Promise<void>) | undefined;
    try {
      const opened = await openClientService(this.#account, this.#options);
      close = opened.close;
      const walk = this.#batches(opened.service, this.#here, {
        query,
        seen: this.#seen,
        interruptedRun: this.#handedOut.asInterruptedRun(this.#seen),
        prefetch: true,
        acceptUnproven:
          acceptIncomplete === undefined || acceptIncomplete === false
            ? undefined
            : ({ reason }) => {
                if (acceptIncomplete !== true) acceptIncomplete(reason.message);
              },
      });
      for await (const { leads, next } of walk) {
        for (const lead of leads) {
          if (!matcher.matches(lead)) continue;
          signal?.throwIfAborted();
          if (this.#handedOut.recordDelivery(lead)) yield new LazyLead(lead.id, lead.bytes);
        }
        if (next !== undefined) this.#turnPage(next);
      }
      // A resumed iteration did not see the leads before its checkpoint: these may have had the fields of the filter.
      if (!isResumed) noteFilters(matcher, opened.service.messages, 'where');
      this.#here = null;
    } catch (error) {
      // The next iteration reads a list without a proof from its start, unless that would deliver records
      // twice.
      if (error instanceof IncompleteError && this.#canGoBack()) this.#turnPage(start);
      throw error;
    } finally {
      await close?.();
    }
  }

  /**
   * Reads a list from its start, where all leads are known, when it cannot be completed from where an earlier
   * iteration stopped.
   */
  async *#batches(
    service: Service,
    from: Position,
    options: ListingOptions,
  ): AsyncGenerator<Batch, void, undefined> {
    const goesBackToStart = this.#canGoBack();
    if (from.style === 'start' || !goesBackToStart) {
      yield* listLeads(service, { ...options, from, goesBackToStart });
      return;
    }
    let hasAnswered = false;
    try {
      // An unproven end is accepted only after the reading from the start.
      const first = { ...options, from, goesBackToStart, acceptUnproven: undefined };
      for await (const batch of listLeads(service, first)) {
        hasAnswered = true;
        yield batch;
      }
      return;
    } catch (error) {
      // A record without an id may have been delivered since the first look.
      const unanswered = hasAnswered ? undefined : service;
      if (!this.#canGoBack() || !mayHelpFromStart(error, unanswered)) throw error;
    }
    const met = this.#seen.size;
    let isFromStart = false;
    for await (const batch of listLeads(service, options)) {
      // If the first page fails as well, the failure says nothing about the position.
      if (!isFromStart) this.#turnPage(start, met);
      isFromStart = true;
      // The checkpoint stays at the start: an iteration that continues behind it would not count known ids that come later.
      const holdsWithoutId = this.#handedOut.hasWithoutId || batch.leads.some(({ id }) => id === undefined);
      yield holdsWithoutId ? batch : { ...batch, next: batch.next && start };
    }
  }

  /** Whether the list may be reread from its start: records without an id would be delivered twice. */
  #canGoBack(): boolean {
    return !this.#handedOut.hasWithoutId;
  }

  /**
   * Moves the checkpoint to `next`. `met` is the number of ids before it: by default all, since the walk reads on only when it
   * is asked for more.
   */
  #turnPage(next: Position, met = this.#seen.size): void {
    this.#here = next;
    this.#metBefore = met;
    this.#handedOut.clear();
  }

  #identity(startedAt: number): Record<string, unknown> {
    const { query, filter } = resolveFilterOptions(this.#filter, startedAt);
    const { baseUrl, dialect = {} } = this.#account;
    const isoTime = (ms: number | undefined): string | null =>
      ms === undefined ? null : new Date(ms).toISOString();
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

/**
 * The leads that were delivered from the page that is being read, which an iteration reads a second time
 * after an interruption.
 */
class HandedOut {
  #ids: string[] = [];
  /** Digests of the bytes of records without an id. */
  #digests: string[] = [];
  #expected = { ids: new Set<string>(), digests: [] as string[] };

  hasWithoutId = false;

  /** Remembers leads that an earlier iteration delivered: each is skipped once. */
  expect({ withoutId, since: { ids, digests } }: StoredCheckpoint): void {
    this.hasWithoutId = withoutId;
    this.#expected = { ids: new Set(ids), digests: [...digests] };
  }

  /** Records that a lead of the page is delivered. Returns false when an earlier iteration delivered it already. */
  recordDelivery(lead: RawLead): boolean {
    const { id } = lead;
    if (id !== undefined) {
      this.#ids.push(id);
      return !this.#expected.ids.delete(id);
    }
    this.hasWithoutId = true;
    const digest = createHash('sha256').update(lead.bytes).digest('base64');
    this.#digests.push(digest);
    const index = this.#expected.digests.indexOf(digest);
    if (index >= 0) this.#expected.digests.splice(index, 1);
    return index < 0;
  }

  /** Returns the leads that earlier iterations listed, or delivered from the page at which they stopped. */
  asInterruptedRun(listedIds: IdSet): NonNullable<ListingOptions['interruptedRun']> {
    const { ids } = this.#expected;
    return {
      get size() {
        return listedIds.size + ids.size;
      },
      has: (id) => listedIds.has(id) || ids.has(id),
      isPart: this.hasWithoutId,
    };
  }

  clear(): void {
    this.#ids = [];
    this.#digests = [];
  }

  keys(): StoredCheckpoint['since'] {
    return {
      ids: [...this.#ids, ...this.#expected.ids],
      digests: [...this.#digests, ...this.#expected.digests],
    };
  }
}
