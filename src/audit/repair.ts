import type { ReceivedLeads } from '../inbox/query-types.ts';
import { runDeliveries, RunTally } from '../sender/delivery-run.ts';
import type { UnreceivedClass } from './classify-lead.ts';
import type { Audit } from './audit.ts';
import { batchSize } from './compare-leads.ts';
import type { TemporaryLead } from './temporary-leads.ts';
import type { PostResult } from '../http/client/poster.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { deliveryOfPulledLead } from '../receiver/backfill.ts';
import { type RetrySchedule, type Sender, waitsAskedFor } from '../sender/sender.ts';
import type { OutgoingDelivery } from '../sender/sign-request.ts';
import type { Clock } from '../time/clock.ts';

export interface RepairOptions {
  /** The leads that are not in the inbox, in batches of at most 1,000. */
  readonly leads: AsyncIterable<readonly TemporaryLead[]>;
  /** Shows afterwards which leads are there; undefined where nothing can. */
  readonly received: Pick<ReceivedLeads, 'lookUp'> | undefined;
  /** Stores the leads. Where they are delivered as well, each is stored after the receiver has acknowledged it. */
  readonly store: StoreLeads | undefined;
  readonly delivery: LeadDelivery | undefined;
  readonly signal: AbortSignal;
  /** Called with the number of leads that are done. */
  readonly onProgress: (leads: number) => void;
}

/** The result of a repair, as the inbox shows it. */
export interface RepairResult {
  /** The leads that the inbox has now; where nothing shows that, those that the receiver has acknowledged. */
  readonly repaired: ReadonlySet<string>;
  /** The leads that the receiver has acknowledged. */
  readonly acknowledged: ReadonlySet<string>;
  /** How many leads the receiver has acknowledged, and the inbox does not have. */
  readonly unseen: number;
  readonly tally: RunTally | undefined;
  /** The repair was ended because the receiver acknowledged nothing for five minutes. */
  readonly isSilent: boolean;
  /** The error that ended the repair early; undefined where it was the signal, or none. */
  readonly failure: { readonly error: unknown } | undefined;
}

/**
 * Delivers or stores leads, or both, and then looks up which of them the inbox has. A failure on the way is part of the
 * result, and is not thrown: the leads before it count.
 */
export async function repair(options: RepairOptions): Promise<RepairResult> {
  const { received, store, delivery } = options;
  const tried: string[] = [];
  const leads = noted(options.leads, tried);
  const delivered = delivery && (await deliverLeads(leads, delivery, options));
  const failure =
    delivered?.failure ??
    (delivery === undefined && store ? await storeAll(leads, store, options) : undefined);
  const acknowledged = delivered?.acknowledged ?? new Set<string>();
  const present = await presentAmong(tried, received, acknowledged);
  const { tally, isSilent = false } = delivered ?? {};
  return { ...present, acknowledged, tally, isSilent, failure: failure ?? present.failure };
}

async function* noted(
  leads: RepairOptions['leads'],
  tried: string[],
): AsyncGenerator<readonly TemporaryLead[]> {
  for await (const batch of leads) {
    tried.push(...batch.map(({ id }) => id));
    yield batch;
  }
}

async function storeAll(
  leads: AsyncIterable<readonly TemporaryLead[]>,
  store: StoreLeads,
  { signal, onProgress }: RepairOptions,
): Promise<RepairResult['failure']> {
  let stored = 0;
  try {
    for await (const batch of leads) {
      if (signal.aborted) return undefined;
      await store(batch);
      onProgress((stored += batch.length));
    }
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** Finds the leads that are there; where nothing shows that, those that were acknowledged. */
async function presentAmong(
  tried: readonly string[],
  received: RepairOptions['received'],
  acknowledged: ReadonlySet<string>,
): Promise<Pick<RepairResult, 'repaired' | 'unseen' | 'failure'>> {
  if (received === undefined) return { repaired: acknowledged, unseen: 0, failure: undefined };
  const repaired = new Set<string>();
  try {
    for (let start = 0; start < tried.length; start += batchSize) {
      const ids = tried.slice(start, start + batchSize);
      const stored = await received.lookUp(ids);
      for (const [i, id] of ids.entries()) if (stored[i] !== undefined) repaired.add(id);
    }
  } catch (error) {
    // The other leads may be there or not.
    return { repaired, unseen: 0, failure: { error } };
  }
  const unseen = [...acknowledged].filter((id) => !repaired.has(id)).length;
  return { repaired, unseen, failure: undefined };
}

/** The classes that can be repaired: leads of neither are in the inbox. */
export const repairedClasses = ['refused', 'missing'] as const satisfies readonly UnreceivedClass[];

/** The ids of leads that are not repaired. */
export interface SkippedLeads {
  /** The leads that came by themselves after they were found missing. */
  readonly arrived: Set<string>;
  /** The leads that the receiver acknowledged in an earlier round, and that are still not in the inbox. */
  readonly sentBefore: Set<string>;
}

/**
 * Yields the leads that an audit found to be refused or missing, except for those that have come since or were `sent`: each
 * batch is looked up once more just before it is yielded. Adds the others to `skipped`.
 */
export async function* unreceivedLeads(
  audit: Pick<Audit, 'unreceived'>,
  received: Pick<ReceivedLeads, 'lookUp'>,
  sent: ReadonlySet<string>,
  { arrived, sentBefore }: SkippedLeads,
): AsyncGenerator<readonly TemporaryLead[]> {
  for (const kind of repairedClasses) {
    for await (const leads of audit.unreceived(kind)) {
      const stored = await received.lookUp(leads.map(({ id }) => id));
      for (const [i, { id }] of leads.entries()) {
        if (stored[i] !== undefined) arrived.add(id);
        else if (sent.has(id)) sentBefore.add(id);
      }
      yield leads.filter(({ id }) => !arrived.has(id) && !sentBefore.has(id));
    }
  }
}

/** Says where and how leads are delivered. */
export interface LeadDelivery {
  /** `hasAcknowledged`: whether the receiver has acknowledged anything in this repair. */
  readonly createSender: (hasAcknowledged: () => boolean) => Sender;
  /** Makes one delivery for each lead, with an id of its own. */
  readonly deliveriesOf: (
    leads: AsyncIterable<readonly { readonly leadId: string; readonly body: Uint8Array }[]>,
  ) => AsyncIterable<readonly OutgoingDelivery[]>;
  readonly clock: Clock;
}

interface Delivered extends Pick<RepairResult, 'acknowledged' | 'isSilent' | 'failure'> {
  readonly tally: RunTally;
}

/** Requests in flight: a repair does not have to be quick, and the receiver has other work. */
const concurrency = 4;

/**
 * A receiver that acknowledged none of so many leads gets no further ones; so does one that fails at so many in a row, where
 * the leads are not the cause.
 */
const mostFailures = 20;

/**
 * A receiver may acknowledge nothing for so long, in milliseconds, and in so many attempts. That is longer than a lead is tried,
 * unless each attempt hangs, or the receiver asks for long waits.
 */
const longestSilenceMs = 5 * 60_000;
const attemptsInSilence = 5;

/** Delivers each lead until it is acknowledged, by the sender's schedule. Leads must keep their bytes. */
async function deliverLeads(
  leads: AsyncIterable<readonly TemporaryLead[]>,
  { createSender, deliveriesOf, clock }: LeadDelivery,
  { store, signal, onProgress }: RepairOptions,
): Promise<Delivered> {
  const acknowledged = new Set<string>();
  const tally = new RunTally();
  const stop = new AbortController();
  const storing = new Set<Promise<void>>();
  let failure: Delivered['failure'];
  let silence = { since: clock.steady(), attempts: 0, givenUp: 0 };
  let isSilent = false;
  /** The leads that are neither acknowledged nor given up, by their ids. */
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

/** Whether the receiver would answer any other lead in the same way. */
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

/** Twenty attempts in under three minutes: where a receiver fails half the time, one lead in a million stays undelivered. */
const waitsMs = [1, 2, 4, 8, ...Array.from({ length: 15 }, () => 10)].map((seconds) => seconds * second);

/** A lead is tried so often at a receiver that has acknowledged nothing so far. */
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
  /** The address of the service that listed the leads. */
  readonly baseUrl: URL;
  readonly clock: Pick<Clock, 'now'>;
}

/** Stores pulled leads in the inbox, marked as backfilled, except for those that it has. */
export const storeInInbox =
  ({ inbox, baseUrl, clock }: LeadStoreOptions): StoreLeads =>
  async (leads) => {
    const stored = await inbox.lookUp(leads.map(({ id }) => id));
    const lacking = leads.filter((_, i) => stored[i] === undefined);
    if (lacking.length === 0) return;
    await inbox.take(
      lacking.map((lead) => ({
        leadId: lead.id,
        source: 'backfill',
        delivery: deliveryOfPulledLead({ ...lead, category: undefined }, baseUrl, clock.now()).delivery,
      })),
    );
  };
