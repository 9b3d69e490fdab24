import { setImmediate } from 'node:timers/promises';
import type { Problem } from '../errors.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { leadFilter } from '../lead/filter.ts';
import { readCreatedAt, type RawLead } from '../lead/raw-lead.ts';
import { counted, noteUnreadableTimes } from '../output/terminal/progress.ts';
import type { Service } from '../service/client/service.ts';
import { IncompleteError, RunMemory } from '../service/listing-types.ts';
import { listLeads } from '../service/listing.ts';
import { slept, type Clock } from '../time/clock.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import type { ReceiverNote } from './errors.ts';
import type { Receiver } from './receiver.ts';

interface BackfillOptions extends Omit<RoundOptions, 'since' | 'memory' | 'service'> {
  /** Opened in a round: what it takes may be away for a while. */
  readonly service: () => Promise<Service>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** How far back a round reaches, in milliseconds. */
  readonly windowMs: number;
  /** From the end of a round to the next one, in milliseconds; undefined: there is only one. */
  readonly everyMs: number | undefined;
  /** Told of every round when it has ended. */
  readonly onRound: (round: BackfillRound) => Promise<void> | void;
}

/**
 * Lists the service's leads of the last `windowMs`, again and again, and has the receiver handle those that the inbox
 * lacks, as if they had been pushed. A round reaches farther back where the ones before it did not take in what they
 * should have, or were too long ago. Resolves when `signal` aborts, or after the only round. A failure ends its round, not
 * the receiver.
 */
export async function backfill(options: BackfillOptions): Promise<void> {
  const { clock, signal, everyMs, windowMs, onRound } = options;
  /** When the last round began that saw all; before one did, when the first began. */
  let seenUntil = Infinity;
  const memory = new RunMemory();
  for (let number = 1; !signal.aborted; number += 1) {
    const startedAt = clock.now();
    const from = Math.min(startedAt, seenUntil);
    // A lead may be listed after a round that began when it existed. Earlier times than the first of the calendar cannot
    // be asked for, and no lead is older.
    const since = Math.max(0, from - windowMs);
    const ended = await runRound({ ...options, since, memory });
    seenUntil = ended.end.kind === 'failed' || ended.notStored > 0 ? from : startedAt;
    await onRound({ ...ended, number, startedAt, everyMs, durationMs: clock.now() - startedAt });
    if (everyMs === undefined || !(await slept(clock, everyMs, signal))) return;
  }
}

interface RoundOptions {
  readonly service: Service;
  readonly inbox: Pick<Inbox, 'has'>;
  readonly receiver: Pick<Receiver, 'handleChecked'>;
  readonly note: (note: ReceiverNote) => void;
  readonly clock: Pick<Clock, 'now'>;
  /** Ends the round early: leads that are being handled are finished, and no other one is started. */
  readonly signal: AbortSignal;
  /** Leads that were created before that are left out; milliseconds since the epoch. */
  readonly since: number;
  /** The leads of the round before, which this one must meet. */
  readonly memory: RunMemory;
}

/** How a round ended. */
export type RoundEnd =
  | { readonly kind: 'complete' }
  /** The service did not show that it listed everything. */
  | { readonly kind: 'unproven'; readonly reason: Problem }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The receiver stops. */
  | { readonly kind: 'interrupted' };

/** Leads of one round, by what became of them. */
interface RoundCounts {
  /** The inbox did not have them, and has them now. */
  fetched: number;
  /** The inbox had them before. */
  known: number;
  /** The inbox could not take them. */
  notStored: number;
}

/** A reading of the service's list, and what it brought. Times are milliseconds. */
export interface BackfillRound extends Readonly<RoundCounts> {
  /** From 1. */
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly end: RoundEnd;
  /** From its end to the next one; undefined: it was the only one. */
  readonly everyMs: number | undefined;
}

type LeadWithId = RawLead & { readonly id: string };

/** Leads that are looked up in one turn of the event loop. */
const slice = 200;

/** Leads that share a transaction. */
const batch = 50;

/** Runs one round. Never rejects. */
async function runRound(
  unopened: Omit<RoundOptions, 'service'> & Pick<BackfillOptions, 'service'>,
): Promise<RoundCounts & { end: RoundEnd }> {
  const { signal, since, memory, note } = unopened;
  const counts: RoundCounts = { fetched: 0, known: 0, notStored: 0 };
  const window = leadFilter({ categories: [], since, until: undefined, where: [] });
  let withoutId = 0;
  const isCandidate = (lead: RawLead): lead is LeadWithId => {
    if (!window.matches(lead)) return false;
    if (lead.id === undefined) withoutId += 1;
    return lead.id !== undefined;
  };
  const walk = async (): Promise<void> => {
    const service = await unopened.service();
    const options = { ...unopened, service };
    const listed: [string, number][] = [];
    const pages = listLeads({ ...service, signal }, { query: { since }, before: memory.before({ since }) });
    try {
      for await (const { leads } of pages) {
        for (const some of portions(leads.filter(isCandidate), slice, signal)) {
          for (const { id, createdAt } of some) listed.push([id, readCreatedAt(createdAt) ?? -Infinity]);
          await takeListed(some, counts, options);
          // Deliveries get their turn between two parts of a page, which may all be known.
          await setImmediate();
        }
        if (signal.aborted) break;
      }
    } finally {
      // The next round is compared with this one. Leads that are out of reach were said.
      if (pages.completion !== undefined) memory.keep(listed, pages.completion);
      noteUnreadableTimes(window.unreadableTimes, service.messages);
    }
  };
  const end = await endOf(walk, signal);
  if (withoutId > 0) {
    const leads = counted(withoutId, 'lead of the service has', 'leads of the service have');
    const them = withoutId === 1 ? 'it' : 'them';
    note({ kind: 'pulled-without-id', message: `${leads} no id: the backfill cannot take ${them} in` });
  }
  return { ...counts, end };
}

async function endOf(work: () => Promise<void>, signal: AbortSignal): Promise<RoundEnd> {
  try {
    await work();
    return { kind: signal.aborted ? 'interrupted' : 'complete' };
  } catch (error) {
    if (signal.aborted) return { kind: 'interrupted' };
    if (error instanceof IncompleteError) return { kind: 'unproven', reason: error.reason };
    return { kind: 'failed', error };
  }
}

/** Until `signal` aborts. */
function* portions<T>(all: readonly T[], size: number, signal: AbortSignal): Generator<readonly T[]> {
  for (let i = 0; i < all.length && !signal.aborted; i += size) yield all.slice(i, i + size);
}

/** Counts what becomes of some leads of a page, and has the receiver handle those that it lacks. */
async function takeListed(
  leads: readonly LeadWithId[],
  counts: RoundCounts,
  options: RoundOptions,
): Promise<void> {
  const { inbox, signal } = options;
  const idsOf = (some: readonly LeadWithId[]): string[] => some.map(({ id }) => id);
  const storedIds = await inbox.has(idsOf(leads));
  counts.known += storedIds.size;
  const missing = leads.filter(({ id }) => !storedIds.has(id));
  for (const some of portions(missing, batch, signal)) {
    // While the ones before were stored, these may have been pushed.
    const before = await inbox.has(idsOf(some));
    const lacking = some.filter(({ id }) => !before.has(id));
    counts.known += before.size;
    await handlePulled(lacking, options);
    const stored = await inbox.has(idsOf(lacking));
    counts.fetched += stored.size;
    counts.notStored += lacking.length - stored.size;
  }
}

async function handlePulled(
  leads: readonly LeadWithId[],
  { service, receiver, clock }: RoundOptions,
): Promise<void> {
  const { baseUrl } = service.account;
  const deliveries = leads.map((lead) => deliveryOfPulledLead(lead, baseUrl, clock.now()));
  await Promise.all(deliveries.map((checked) => receiver.handleChecked(checked, 'backfill')));
}

/**
 * A lead of the service's list as a checked delivery, so that it can be stored and dispatched like a pushed one. Copies
 * its bytes, since a page's memory is used again. `now` in milliseconds since the epoch.
 */
export function deliveryOfPulledLead(
  lead: RawLead & { readonly id: string },
  baseUrl: URL,
  now: number,
): CheckedDelivery {
  const bytes = Buffer.from(lead.bytes);
  return {
    kind: 'leads',
    delivery: {
      method: 'GET',
      path: baseUrl.pathname,
      url: baseUrl.href,
      rawHeaders: [['content-type', 'application/json']],
      body: bytes,
      remote: baseUrl.host,
      receivedAt: now,
    },
    leads: [
      {
        lead: { bytes, id: lead.id, createdAt: lead.createdAt, category: lead.category },
        leadId: lead.id,
        warnings: [],
      },
    ],
    key: -1,
  };
}
