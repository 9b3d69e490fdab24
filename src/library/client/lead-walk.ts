import { createHash } from 'node:crypto';
import { leadFilter } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { application } from '../../front.ts';
import { type FilterWords, noteFilters } from '../../output/filter-notes.ts';
import { IncompleteError } from '../../service/listing-types.ts';
import { mayHelpFromStart, listLeads } from '../../service/listing.ts';
import type { Batch, ListingOptions } from '../../service/listing-types.ts';
import type { Position } from '../../service/pagers/position.ts';
import {
  type Checkpoint,
  preloadIds,
  readLeadCheckpoint,
  storedIds,
  type StoredCheckpoint,
} from './lead-checkpoint.ts';
import {
  checkKey,
  type ClientOptions,
  type LeadFilterOptions,
  type LeadsOptions,
  resolveFilterOptions,
} from './client-options.ts';
import { LazyLead, type PulledLead } from '../webhook/lead.ts';
import { UsageError } from '../../errors.ts';
import { createAgent } from '../../http/client/agent.ts';
import type { Messages } from '../../output/messages.ts';
import { Secret } from '../../secret.ts';
import type { RateGate, Service } from '../../service/client/service.ts';
import { systemClock } from '../../time/clock.ts';
import { formatSeconds } from '../../time/time-text.ts';

const start: Position = { style: 'start' };

/** One reading of a service's list, and where it is. */
export class LeadWalk {
  readonly #account: ClientAccount;
  readonly #filter: LeadFilterOptions;
  readonly #options: LeadsOptions;
  readonly #startedAt: number;
  readonly #seen = new IdSet();
  /** Where the page begins that is being read; null at a complete end. */
  #here: Position | null = start;
  /** How many ids of `seen` were met in front of it. */
  #metBefore = 0;
  /** Keys of the leads handed out since it began; an earlier run's are kept until they come again. */
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
    preloadIds(this.#seen, from);
    this.#metBefore = this.#seen.size;
    this.#handedOut.expect(from);
  }

  checkpoint(): Checkpoint {
    const checkpoint: StoredCheckpoint = {
      version: 1,
      startedAt: this.#startedAt,
      of: this.#identity(this.#startedAt),
      position: this.#here,
      ...storedIds(this.#seen, this.#metBefore),
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
      const walk = this.#pages(opened.service, this.#here, {
        query,
        seen: this.#seen,
        interruptedRun: this.#handedOut.withMet(this.#seen),
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
          if (this.#handedOut.add(lead)) yield new LazyLead(lead.id, lead.bytes);
        }
        if (next !== undefined) this.#turnPage(next);
      }
      // Behind a checkpoint, what was asked for may have stood in the leads before it.
      if (!isResumed) noteFilters(matcher, opened.service.messages, filterOptionWords);
      this.#here = null;
    } catch (error) {
      // What lacks a proof is read again from its front, unless records would be handed out again for that.
      if (error instanceof IncompleteError && this.#canGoBack()) this.#turnPage(start);
      throw error;
    } finally {
      await close?.();
    }
  }

  /** What cannot be completed from where an earlier iteration stopped is read from the front, whose leads are known. */
  async *#pages(
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
      // What is accepted is what the front does not prove either.
      const first = { ...options, from, goesBackToStart, acceptUnproven: undefined };
      for await (const batch of listLeads(service, first)) {
        hasAnswered = true;
        yield batch;
      }
      return;
    } catch (error) {
      const unanswered = hasAnswered ? undefined : service;
      if (!this.#canGoBack() || !mayHelpFromStart(error, unanswered)) throw error;
    }
    const met = this.#seen.size;
    let isFront = false;
    // What is known stands behind its positions as well, where an iteration that goes on would not count it.
    for await (const batch of listLeads(service, options)) {
      // A front that fails as well says nothing of the position.
      if (!isFront) this.#turnPage(start, met);
      isFront = true;
      const holdsWithoutId = this.#handedOut.hasWithoutId || batch.leads.some(({ id }) => id === undefined);
      yield holdsWithoutId ? batch : { ...batch, next: batch.next && start };
    }
  }

  /** Records without an id would be handed out again. */
  #canGoBack(): boolean {
    return !this.#handedOut.hasWithoutId;
  }

  /** What is read before the walk is asked for more belongs to the pages in front of `next`. */
  #turnPage(next: Position, met = this.#seen.size): void {
    this.#here = next;
    this.#metBefore = met;
    this.#handedOut.clear();
  }

  /** What must not change between an iteration and its continuation. */
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

/** The leads that were handed out of the page that is being read: after an interruption it is read again. */
class HandedOut {
  #ids: string[] = [];
  /** Of records without an id: what is sent again is known by its bytes. */
  #digests: string[] = [];
  #expected = { ids: new Set<string>(), digests: [] as string[] };

  /** Of this iteration, or of one before it. */
  hasWithoutId = false;

  /** Leads that an earlier iteration handed out, and that are not handed out when they come again. */
  expect({ withoutId, since: { ids, digests } }: StoredCheckpoint): void {
    this.hasWithoutId = withoutId;
    this.#expected = { ids: new Set(ids), digests: [...digests] };
  }

  /** Whether the lead was not handed out by an earlier iteration. */
  add(lead: RawLead): boolean {
    const { id } = lead;
    if (id !== undefined) {
      this.#ids.push(id);
      return !this.#expected.ids.delete(id);
    }
    this.hasWithoutId = true;
    const digest = createHash('sha256').update(lead.bytes).digest('base64');
    this.#digests.push(digest);
    const at = this.#expected.digests.indexOf(digest);
    if (at >= 0) this.#expected.digests.splice(at, 1);
    return at < 0;
  }

  /** The leads that earlier iterations have met. */
  withMet(seen: IdSet): NonNullable<ListingOptions['interruptedRun']> {
    const { ids } = this.#expected;
    return {
      get size() {
        return seen.size + ids.size;
      },
      has: (id) => seen.has(id) || ids.has(id),
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

/** What a client knows from its options. */
export interface ClientAccount extends ClientOptions {
  readonly baseUrl: URL;
  readonly rateGate: RateGate;
}

const defaultTimeoutMs = 30_000;
const defaultRetries = 5;

/** The service with connections of its own; `close` cuts them. Throws what the function that gives the key throws. */
async function openClientService(
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
    front: application,
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

const filterOptionWords: FilterWords = {
  where: 'where',
  anyOf: (categories) => `category: [${categories.map((name) => `'${name}'`).join(', ')}]`,
};

/** A shorter wait is not worth a note; ms. */
const notedMs = 3000;

/** Gives each note once to `onNote`, in the words of an application; nobody reads anything else. */
export function noteMessages(onNote: (note: string) => void): Messages {
  const noted = new Set<string>();
  const note = (cause: string, text: string): void => {
    if (noted.has(cause)) return;
    noted.add(cause);
    onNote(text);
  };
  return {
    note,
    say: () => undefined,
    verbose: () => undefined,
    warn: () => undefined,
    waiting({ ms, why, detail }, sleep) {
      const reason = detail === undefined ? why : `${why}, ${detail}`;
      if (ms >= notedMs) note(`waiting: ${why}`, `waiting ${formatSeconds(ms)}: ${reason}`);
      return sleep();
    },
    asking: () => () => undefined,
  };
}
