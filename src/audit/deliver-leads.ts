import type { PostResult } from '../http/client/poster.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { deliveryOfPulledLead } from '../receiver/backfill.ts';
import { runDeliveries, RunTally } from '../sender/delivery-run.ts';
import { type RetrySchedule, type Sender, waitsAskedFor } from '../sender/sender.ts';
import type { OutgoingDelivery } from '../sender/sign-request.ts';
import type { Clock } from '../time/clock.ts';
import type { TemporaryLead } from './temporary-leads.ts';

/** Where leads are delivered, and how. */
export interface LeadDelivery {
  /** `hasAcknowledged`: whether the receiver has acknowledged anything in this repair. */
  readonly createSender: (hasAcknowledged: () => boolean) => Sender;
  /** One delivery for each lead, with an id of its own. */
  readonly deliveriesOf: (
    leads: AsyncIterable<readonly { readonly leadId: string; readonly body: Uint8Array }[]>,
  ) => AsyncIterable<readonly OutgoingDelivery[]>;
  readonly clock: Clock;
}

interface DeliverOptions {
  /** Stores what was acknowledged. */
  readonly store: StoreLeads | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (leads: number) => void;
}

interface Delivered {
  readonly acknowledged: ReadonlySet<string>;
  readonly tally: RunTally;
  /** It was ended since the receiver acknowledged nothing for long. */
  readonly isSilent: boolean;
  readonly failure: { readonly error: unknown } | undefined;
}

/** Requests in flight: a repair does not have to be quick, and the receiver has other work. */
const concurrency = 4;

/** A receiver that acknowledged none of so many leads is left alone, or of the last ones, where they are not the cause. */
const mostFailures = 20;

/**
 * How long a receiver may acknowledge nothing, ms, and in how many attempts: longer than it takes to give a lead up, unless
 * each attempt hangs, or the receiver asks for long waits.
 */
const longestSilenceMs = 5 * 60_000;
const attemptsInSilence = 5;

/** Delivers each lead until it is acknowledged, by the sender's schedule. Leads must keep their bytes. */
export async function deliverLeads(
  leads: AsyncIterable<readonly TemporaryLead[]>,
  { createSender, deliveriesOf, clock }: LeadDelivery,
  { store, signal, onProgress }: DeliverOptions,
): Promise<Delivered> {
  const acknowledged = new Set<string>();
  const tally = new RunTally();
  const stop = new AbortController();
  const storing = new Set<Promise<void>>();
  let failure: Delivered['failure'];
  let silence = { since: clock.steady(), attempts: 0, givenUp: 0 };
  let isSilent = false;
  /** By id: what is neither acknowledged nor given up. */
  const waiting = new Map<string, TemporaryLead>();
  const keep = async (lead: TemporaryLead): Promise<void> => {
    try {
      await store?.([lead]);
    } catch (error) {
      failure ??= { error };
      stop.abort();
    }
  };
  const run = await runDeliveries({
    source: deliveriesOf(asSource(leads, waiting)),
    sender: createSender(() => acknowledged.size > 0),
    concurrency,
    clock,
    signal: AbortSignal.any([signal, stop.signal]),
    onAttempt(timed) {
      tally.add(timed);
      const { delivery, outcome, result, retryInMs } = timed.attempt;
      const lead = waiting.get(delivery.leadId);
      if (outcome === 'acknowledged') silence = { since: clock.steady(), attempts: 0, givenUp: 0 };
      else silence.attempts += 1;
      if (retryInMs === undefined && outcome !== 'acknowledged' && isOfReceiver(result)) silence.givenUp += 1;
      if (outcome === 'acknowledged' && lead !== undefined) {
        acknowledged.add(lead.id);
        const stored = keep(lead).finally(() => storing.delete(stored));
        storing.add(stored);
      } else if (
        silence.givenUp >= mostFailures ||
        (tally.failed >= mostFailures && acknowledged.size === 0)
      ) {
        stop.abort();
      } else if (
        silence.attempts >= attemptsInSilence &&
        clock.steady() - silence.since >= longestSilenceMs
      ) {
        isSilent = true;
        stop.abort();
      }
      if (retryInMs === undefined) {
        waiting.delete(delivery.leadId);
        onProgress(tally.acknowledged + tally.failed);
      }
    },
  });
  await Promise.all(storing);
  return { acknowledged, tally, isSilent, failure: failure ?? run.failure };
}

/** Whether the next lead would be answered in the same way, whatever it is. */
const isOfReceiver = (result: PostResult): boolean =>
  !result.ok || result.status >= 500 || result.status === 410 || result.status === 429;

async function* asSource(
  leads: AsyncIterable<readonly TemporaryLead[]>,
  waiting: Map<string, TemporaryLead>,
): AsyncGenerator<readonly { leadId: string; body: Uint8Array }[]> {
  for await (const batch of leads) {
    for (const lead of batch) waiting.set(lead.id, lead);
    yield batch.map(({ id, bytes }) => ({ leadId: id, body: bytes }));
  }
}

const second = 1000;

/** Twenty attempts in under three minutes: of a receiver that fails half the time, one lead in a million is left. */
const waitsMs = [1, 2, 4, 8, ...Array.from({ length: 15 }, () => 10)].map((seconds) => seconds * second);

/** Attempts for one lead at a receiver that has acknowledged nothing so far. */
const attemptsWithoutSuccess = 5;

/**
 * When a delivery of a repair is tried again: only where trying again may help, and only a few times before the receiver
 * has acknowledged anything. `now` in milliseconds since the epoch.
 */
export function repairSchedule(hasAcknowledged: () => boolean, now: () => number): RetrySchedule {
  const waits = waitsAskedFor(waitsMs, now);
  return (number, result) => {
    if (!mayPass(result)) return undefined;
    if (number >= attemptsWithoutSuccess && !hasAcknowledged()) return undefined;
    return waits(number, result);
  };
}

/** A certificate that is not trusted, a wrong secret or a path that is not there stay as they are. */
const mayPass = (result: PostResult): boolean =>
  result.ok
    ? result.status >= 500 || [408, 425, 429].includes(result.status)
    : !/CERT|SIGNATURE|ISSUER|SSL|EPROTO|^HPE_/.test(result.code);

/** Makes leads durable. Rejects with a `CannotStoreError`. */
export type StoreLeads = (leads: readonly TemporaryLead[]) => Promise<void>;

interface LeadStoreOptions {
  readonly inbox: Pick<Inbox, 'take' | 'lookUp'>;
  /** Where the leads were pulled from. */
  readonly baseUrl: URL;
  readonly clock: Pick<Clock, 'now'>;
}

/** Stores pulled leads in the inbox, marked as a backfill marks them; leaves alone what it has. */
export const storeInInbox =
  ({ inbox, baseUrl, clock }: LeadStoreOptions): StoreLeads =>
  async (leads) => {
    const found = await inbox.lookUp(leads.map(({ id }) => id));
    const lacking = leads.filter((_, i) => found[i] === undefined);
    if (lacking.length === 0) return;
    await inbox.take(
      lacking.map((lead) => ({
        leadId: lead.id,
        source: 'backfill',
        delivery: deliveryOfPulledLead({ ...lead, category: undefined }, baseUrl, clock.now()).delivery,
      })),
    );
  };
