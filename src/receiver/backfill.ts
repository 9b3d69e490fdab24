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
 * Lists the service's leads of the last `windowMs` in rounds, and has the receiver handle those that the inbox lacks, as if they
 * had been pushed. The window of a round begins before the start of the last round that stored all that was listed, so that a failed or late
 * round leaves no gap. Resolves when `signal` aborts, or after the only round. A failure ends its round, not the receiver.
 */
export async function backfill(options: BackfillOptions): Promise<void> {
  const { clock, signal, everyMs, windowMs, onRound } = options;
  /** The start of the last round that stored all that was listed; until there is one, the start of the first round. */
  let coveredUntil = Infinity;
  /** The leads of the last round that came to an end: the next one must meet them as well. */
  let listedBefore: readonly KnownLead[] = [];
  for (let number = 1; !signal.aborted; number += 1) {
    const startedAt = clock.now();
    const windowEnd = Math.min(startedAt, coveredUntil);
    // The window overlaps the last round, since a service may list a lead late. No lead is older than the epoch.
    const since = Math.max(0, windowEnd - windowMs);
    const { listed, ...round } = await runRound(options, since, expectedAgain(listedBefore, { since }));
    listedBefore = listed ?? listedBefore;
    const hasStoredAll = round.end.kind !== 'failed' && round.notStored === 0;
    coveredUntil = hasStoredAll ? startedAt : windowEnd;
    await onRound({ ...round, number, startedAt, everyMs, durationMs: clock.now() - startedAt });
    if (everyMs === undefined || !(await slept(clock, everyMs, signal))) return;
  }
}

type RoundEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'unproven'; readonly reason: Problem }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'interrupted' };

/** Leads of a round: `known` ones were in the inbox before it, `fetched` ones were stored by it, the others could not be stored. */
interface RoundCounts {
  fetched: number;
  known: number;
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
const batchSize = 50;

/**
 * Lists the leads that were created since then (ms since the epoch) and stores those that the inbox lacks. Never rejects. Of the
 * `expectedIds`, the list must have one to be complete. `listed`: all leads of the window; undefined where the walk did not come
 * to an end.
 */
async function runRound(options: BackfillOptions, since: number, expectedIds: readonly string[]) {
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
        for (let i = 0; i < candidates.length && !signal.aborted; i += batchSize) {
          const batch = candidates.slice(i, i + batchSize);
          for (const { id, createdAt } of batch) listed.push([id, readCreatedAt(createdAt) ?? -Infinity]);
          await storeMissing(batch, counts, service.account.baseUrl, options);
          // Deliveries get their turn: where all leads are known, nothing else lets them.
          await setImmediate();
        }
        if (signal.aborted) break;
      }
    } finally {
      // A walk that ended with leads out of reach throws here, but has listed all others.
      if (pages.completion !== undefined) allListed = listed;
      noteUnreadableTimes(window.unreadableTimes, service.messages);
    }
  };
  const walkEnd = await walk().then(
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
  const end: RoundEnd = signal.aborted ? { kind: 'interrupted' } : walkEnd;
  return { ...counts, listed: allListed, end };
}

/** Stores those of the leads that the inbox lacks, and adds all of them to `counts`. */
async function storeMissing(
  leads: readonly LeadWithId[],
  counts: RoundCounts,
  baseUrl: URL,
  { inbox, receiver, clock }: BackfillOptions,
): Promise<void> {
  const idsInInbox = (listed: readonly LeadWithId[]) => inbox.has(listed.map(({ id }) => id));
  const knownIds = await idsInInbox(leads);
  counts.known += knownIds.size;
  const missing = leads.filter(({ id }) => !knownIds.has(id));
  if (missing.length === 0) return;
  const deliveries = missing.map((lead) => deliveryOfPulledLead(lead, baseUrl, clock.now()));
  await Promise.all(deliveries.map((checked) => receiver.handleChecked(checked, 'backfill')));
  const stored = await idsInInbox(missing);
  counts.fetched += stored.size;
  counts.notStored += missing.length - stored.size;
}

/**
 * A lead of the service's list as a checked delivery, so that it can be stored and dispatched like a pushed one. Copies
 * its bytes, since a page's memory is used again. `now` in milliseconds since the epoch.
 */
export function deliveryOfPulledLead(lead: LeadWithId, baseUrl: URL, now: number): CheckedDelivery {
  const { id, createdAt, category } = lead;
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
    leads: [{ lead: { bytes, id, createdAt, category }, leadId: id, warnings: [] }],
    // No key verified it.
    key: -1,
  };
}
