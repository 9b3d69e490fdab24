import { setImmediate } from 'node:timers/promises';
import type { Problem } from '../errors.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { leadMatcher } from '../lead/filter.ts';
import { readCreatedAt, type RawLead } from '../lead/raw-lead.ts';
import { counted } from '../output/terminal/progress.ts';
import { noteUnreadableTimes } from '../output/walk-notes.ts';
import type { Service } from '../service/client/service.ts';
import { expectedAgain, IncompleteError, type KnownLead } from '../service/listing-types.ts';
import { listLeads } from '../service/listing.ts';
import { slept, type Clock } from '../time/clock.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import type { ReceiverNote } from './errors.ts';
import type { Receiver } from './receiver.ts';

interface BackfillOptions {
  readonly service: () => Promise<Service>;
  readonly inbox: Pick<Inbox, 'has'>;
  readonly receiver: Pick<Receiver, 'handleChecked'>;
  readonly note: (note: ReceiverNote) => void;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Ends a round early: leads that are being handled are finished, and no other one is started. */
  readonly signal: AbortSignal;
  readonly windowMs: number;
  /** From the end of a round to the next one, in milliseconds; undefined: there is only one. */
  readonly everyMs: number | undefined;
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
  /** The leads of the last round that came to an end. */
  let listedBefore: readonly KnownLead[] = [];
  for (let number = 1; !signal.aborted; number += 1) {
    const startedAt = clock.now();
    const from = Math.min(startedAt, seenUntil);
    // A lead may be listed after a round that began when it existed. Earlier times than the first of the calendar cannot
    // be asked for, and no lead is older.
    const since = Math.max(0, from - windowMs);
    const { listed, ...ended } = await runRound(options, since, expectedAgain(listedBefore, { since }));
    listedBefore = listed ?? listedBefore;
    seenUntil = ended.end.kind === 'failed' || ended.notStored > 0 ? from : startedAt;
    await onRound({ ...ended, number, startedAt, everyMs, durationMs: clock.now() - startedAt });
    if (everyMs === undefined || !(await slept(clock, everyMs, signal))) return;
  }
}

type RoundEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'unproven'; readonly reason: Problem }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'interrupted' };

interface RoundCounts {
  /** The inbox did not have them, and has them now. */
  fetched: number;
  /** The inbox had them before. */
  known: number;
  /** The inbox could not take them. */
  notStored: number;
}

export interface BackfillRound extends Readonly<RoundCounts> {
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly end: RoundEnd;
  readonly everyMs: number | undefined;
}

type LeadWithId = RawLead & { readonly id: string };
const hasId = (lead: RawLead): lead is LeadWithId => lead.id !== undefined;

/** Leads that are looked up in one turn of the event loop, and share a transaction where the inbox lacks them. */
const batch = 50;

/**
 * Reads the leads that were created since then (ms since the epoch), and must meet one of the `expectedIds`. Never rejects.
 * `listed`: all of them, where the walk came to an end.
 */
async function runRound(
  options: BackfillOptions,
  since: number,
  expectedIds: readonly string[],
): Promise<RoundCounts & { end: RoundEnd; listed: readonly KnownLead[] | undefined }> {
  const { signal, note } = options;
  const counts: RoundCounts = { fetched: 0, known: 0, notStored: 0 };
  const window = leadMatcher({ categories: [], since, until: undefined, where: [] });
  let withoutId = 0;
  let allListed: readonly KnownLead[] | undefined;
  const walk = async (): Promise<void> => {
    const service = await options.service();
    const listed: KnownLead[] = [];
    const pages = listLeads({ ...service, signal }, { query: { since }, expectedIds });
    try {
      for await (const { leads } of pages) {
        const matching = leads.filter((lead) => window.matches(lead));
        const candidates = matching.filter(hasId);
        withoutId += matching.length - candidates.length;
        for (let i = 0; i < candidates.length && !signal.aborted; i += batch) {
          const some = candidates.slice(i, i + batch);
          for (const { id, createdAt } of some) listed.push([id, readCreatedAt(createdAt) ?? -Infinity]);
          await takeListed(some, counts, service.account.baseUrl, options);
          // Deliveries get their turn between two parts of a page, which may all be known.
          await setImmediate();
        }
        if (signal.aborted) break;
      }
    } finally {
      // The next round is compared with this one. Leads that are out of reach were said.
      if (pages.completion !== undefined) allListed = listed;
      noteUnreadableTimes(window.unreadableTimes, service.messages);
    }
  };
  const end = await walk().then(
    (): RoundEnd => ({ kind: 'complete' }),
    (error: unknown): RoundEnd =>
      error instanceof IncompleteError
        ? { kind: 'unproven', reason: error.reason }
        : { kind: 'failed', error },
  );
  if (withoutId > 0) {
    const leads = counted(withoutId, 'lead of the service has', 'leads of the service have');
    const them = withoutId === 1 ? 'it' : 'them';
    note({ kind: 'pulled-without-id', message: `${leads} no id: the backfill cannot take ${them} in` });
  }
  return { ...counts, listed: allListed, end: signal.aborted ? { kind: 'interrupted' } : end };
}

async function takeListed(
  leads: readonly LeadWithId[],
  counts: RoundCounts,
  baseUrl: URL,
  { inbox, receiver, clock }: BackfillOptions,
): Promise<void> {
  const storedAmong = (some: readonly LeadWithId[]) => inbox.has(some.map(({ id }) => id));
  const before = await storedAmong(leads);
  counts.known += before.size;
  const missing = leads.filter(({ id }) => !before.has(id));
  if (missing.length === 0) return;
  const deliveries = missing.map((lead) => deliveryOfPulledLead(lead, baseUrl, clock.now()));
  await Promise.all(deliveries.map((checked) => receiver.handleChecked(checked, 'backfill')));
  const stored = await storedAmong(missing);
  counts.fetched += stored.size;
  counts.notStored += missing.length - stored.size;
}

/**
 * A lead of the service's list as a checked delivery, so that it can be stored and dispatched like a pushed one. Copies
 * its bytes, since a page's memory is used again. `now` in milliseconds since the epoch.
 */
export function deliveryOfPulledLead(lead: LeadWithId, baseUrl: URL, now: number): CheckedDelivery {
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
