import { setImmediate } from 'node:timers/promises';
import { leadFilter } from '../../lead/filter.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { counted } from '../../output/terminal/progress.ts';
import { noteUnreadableTimes } from '../../output/walk-summary.ts';
import { IncompleteError } from '../../service/listing/evidence/completion.ts';
import { listLeads } from '../../service/listing/listing.ts';
import { handOnPending } from './hand-on-pending.ts';
import { deliveryOfPulledLead } from './pulled-delivery.ts';
import type { RoundCounts, RoundEnd, RoundOptions } from './round.ts';

type LeadWithId = RawLead & { readonly id: string };

/** Leads that are looked up in one turn of the event loop. */
const slice = 200;

/** Ids of pending leads that are remembered beyond the window. */
const mostOutstanding = 100_000;

/** Leads that share a transaction where there is no target. */
const batch = 50;

/** One round. Never rejects. */
export async function runRound(options: RoundOptions): Promise<RoundCounts & { end: RoundEnd }> {
  const { service, signal, since, outstanding } = options;
  // The window may have left them behind while a target did not answer.
  const unlisted = new Set(outstanding);
  const counts: RoundCounts = { fetched: 0, known: 0, handedOn: 0, pending: 0, notStored: 0 };
  const window = leadFilter({ categories: [], since, until: undefined, where: [] });
  let withoutId = 0;
  const isCandidate = (lead: RawLead): lead is LeadWithId => {
    if (!window.matches(lead)) return false;
    if (lead.id === undefined) withoutId += 1;
    return lead.id !== undefined;
  };
  const walk = async (): Promise<void> => {
    for await (const { leads } of listLeads({ ...service, signal }, { query: { since } })) {
      const candidates = leads.filter(isCandidate);
      for (let i = 0; i < candidates.length && !signal.aborted; i += slice) {
        const some = candidates.slice(i, i + slice);
        for (const { id } of some) unlisted.delete(id);
        await takeIn(some, counts, options);
        // Deliveries get their turn between two parts of a page, which may all be known.
        await setImmediate();
      }
      if (signal.aborted) break;
    }
  };
  const walked = await endOf(walk, signal);
  const handedOn = await endOf(() => handOnUnlisted([...unlisted], counts, options), signal);
  noteUnreadableTimes(window.unreadableTimes, service.messages);
  noteWithoutId(withoutId, service.messages);
  return { ...counts, end: walked.kind === 'complete' ? handedOn : walked };
}

async function endOf(work: () => Promise<void>, signal: AbortSignal): Promise<RoundEnd> {
  try {
    await work();
    return { kind: signal.aborted ? 'interrupted' : 'complete' };
  } catch (error) {
    if (signal.aborted) return { kind: 'interrupted' };
    if (error instanceof IncompleteError) return { kind: 'unproven', why: error.why };
    return { kind: 'failed', error };
  }
}

/** Counts what becomes of some leads of a page, and has the receiver handle those that it lacks. */
async function takeIn(
  leads: readonly LeadWithId[],
  counts: RoundCounts,
  options: RoundOptions,
): Promise<void> {
  const { inbox, receiver, service, clock, signal } = options;
  const states = await inbox.states(leads.map(({ id }) => id));
  const missing = leads.filter(({ id }) => !states.has(id));
  const pending = leads.filter(({ id }) => states.get(id) === 'pending');
  counts.known += leads.length - missing.length;
  const concurrency = shareOf(options.targets);
  for (let i = 0; i < missing.length && !signal.aborted; i += concurrency) {
    const some = missing.slice(i, i + concurrency);
    // While the ones before were forwarded, these may have been pushed.
    const before = await inbox.states(some.map(({ id }) => id));
    const lacking = some.filter(({ id }) => !before.has(id));
    counts.known += before.size;
    const deliveries = lacking.map((lead) =>
      deliveryOfPulledLead(lead, service.account.baseUrl, clock.now()),
    );
    await Promise.all(deliveries.map((checked) => receiver.handleChecked(checked, 'backfill')));
    const ids = lacking.map(({ id }) => id);
    const { known, pending: left } = await countPending(ids, options);
    counts.fetched += known;
    counts.pending += left;
    counts.notStored += lacking.length - known;
  }
  await handOn(pending, pending, counts, options);
}

/** Hands on, among those left pending by earlier rounds, what the service did not list in this one. */
async function handOnUnlisted(
  ids: readonly string[],
  counts: RoundCounts,
  options: RoundOptions,
): Promise<void> {
  for (let i = 0; i < ids.length && !options.signal.aborted; i += slice) {
    const some = ids.slice(i, i + slice);
    const states = await options.inbox.states(some);
    // They may have been pushed again, or erased.
    for (const id of some) if (states.get(id) !== 'pending') options.outstanding.delete(id);
    const pending = some.filter((id) => states.get(id) === 'pending');
    counts.known += pending.length;
    await handOn(
      pending.map((id) => ({ id })),
      [],
      counts,
      options,
    );
  }
}

async function handOn(
  pending: readonly { readonly id: string }[],
  listed: readonly LeadWithId[],
  counts: RoundCounts,
  options: RoundOptions,
): Promise<void> {
  const concurrency = shareOf(options.targets);
  for (let i = 0; i < pending.length && !options.signal.aborted; i += concurrency) {
    const ids = pending.slice(i, i + concurrency).map(({ id }) => id);
    await handOnPending(ids, listed.slice(i, i + concurrency), options);
    const { known, pending: left } = await countPending(ids, options);
    counts.pending += left;
    counts.handedOn += known - left;
  }
}

/** Of these leads, how many the inbox has, and how many of them are pending. */
async function countPending(
  ids: readonly string[],
  { inbox, outstanding }: RoundOptions,
): Promise<{ known: number; pending: number }> {
  const states = await inbox.states(ids);
  let pending = 0;
  for (const [id, state] of states) {
    if (state !== 'pending') outstanding.delete(id);
    else {
      pending += 1;
      if (outstanding.size < mostOutstanding) outstanding.add(id);
    }
  }
  return { known: states.size, pending };
}

/** Says once in a run that there are leads that no inbox can hold, since it tells them apart by their ids. */
function noteWithoutId(leads: number, messages: RoundOptions['service']['messages']): void {
  if (leads === 0) return;
  const some = counted(leads, 'lead of the service has', 'leads of the service have');
  messages.note(
    'backfill-without-id',
    `${some} no id: the backfill cannot take ${leads === 1 ? 'it' : 'them'} in`,
  );
}

/** Half of what the targets take at the same time, so that a delivery never waits behind a round alone. */
const shareOf = (targets: RoundOptions['targets']): number =>
  Math.max(
    1,
    Math.floor(Math.min(2 * batch, ...targets.map(({ concurrency = 2 * batch }) => concurrency)) / 2),
  );
