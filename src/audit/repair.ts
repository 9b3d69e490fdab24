import type { ReceivedLeads } from '../inbox/query-types.ts';
import { runDeliveries, RunTally } from '../sender/delivery-run.ts';
import type { Finding, UnreceivedClass } from './classify-lead.ts';
import type { Audit } from './audit.ts';
import { batchSize } from './compare-leads.ts';
import { type TemporaryLead, ValueSpool } from './temporary-leads.ts';
import type { PostResult } from '../http/client/poster.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { deliveryOfPulledLead } from '../receiver/backfill.ts';
import { type RetrySchedule, type Sender, waitsAskedFor } from '../sender/sender.ts';
import type { OutgoingDelivery } from '../sender/sign-request.ts';
import type { Clock } from '../time/clock.ts';

/** Names a lead that was not received by its class and its place among the leads of that class. */
interface UnreceivedPlace {
  readonly kind: UnreceivedClass;
  /** The place in the order in which the audit found them, from 0. */
  readonly nth: number;
}

type UnreceivedLead = TemporaryLead & UnreceivedPlace;

/** Some of the leads that were not received. */
export class MarkedLeads {
  readonly #marks: Readonly<Record<UnreceivedClass, Set<number>>> = {
    refused: new Set(),
    missing: new Set(),
  };

  get size(): number {
    return this.#marks.refused.size + this.#marks.missing.size;
  }

  add({ kind, nth }: UnreceivedPlace): void {
    this.#marks[kind].add(nth);
  }

  /** Returns a test for findings, which must come class by class, each class from its first finding on. */
  tellOfEach(): (finding: Pick<Finding, 'class'>) => boolean {
    const seen = { refused: 0, missing: 0 };
    return ({ class: kind }) => {
      if (kind !== 'refused' && kind !== 'missing') return false;
      const nth = seen[kind];
      seen[kind] += 1;
      return this.#marks[kind].has(nth);
    };
  }
}

export interface RepairOptions {
  /** The leads that are not in the inbox, in batches of at most 1,000. */
  readonly leads: AsyncIterable<readonly UnreceivedLead[]>;
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
  readonly repaired: MarkedLeads;
  /** Leads that the receiver has acknowledged. */
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
  const tried = new ValueSpool<Tried>();
  const leads = noted(options.leads, tried);
  const delivered = delivery && (await deliverLeads(leads, delivery, options));
  const failure =
    delivered?.failure ??
    (delivery === undefined && store ? await storeAll(leads, store, options) : undefined);
  const acknowledged = delivered?.acknowledged ?? new Set<string>();
  const present = await presentAmong(tried, received, acknowledged).finally(() => tried.close());
  const { tally, isSilent = false } = delivered ?? {};
  return { ...present, acknowledged, tally, isSilent, failure: failure ?? present.failure };
}

/** A lead that was to be repaired. */
type Tried = readonly [id: string, kind: UnreceivedClass, nth: number];

async function* noted(
  leads: AsyncIterable<readonly UnreceivedLead[]>,
  tried: ValueSpool<Tried>,
): AsyncGenerator<readonly TemporaryLead[]> {
  for await (const batch of leads) {
    await tried.add(...batch.map(({ id, kind, nth }): Tried => [id, kind, nth]));
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
  tried: ValueSpool<Tried>,
  received: RepairOptions['received'],
  acknowledged: ReadonlySet<string>,
): Promise<Pick<RepairResult, 'repaired' | 'unseen' | 'failure'>> {
  const repaired = new MarkedLeads();
  let unseen = acknowledged.size;
  const look = async (batch: readonly Tried[]): Promise<void> => {
    const found = await received?.lookUp(batch.map(([id]) => id));
    for (const [i, [id, kind, nth]] of batch.entries()) {
      const isThere = found === undefined ? acknowledged.has(id) : found[i] !== undefined;
      if (!isThere) continue;
      repaired.add({ kind, nth });
      if (acknowledged.has(id)) unseen -= 1;
    }
  };
  let batch: Tried[] = [];
  try {
    for await (const lead of tried.values()) {
      batch.push(lead);
      if (batch.length < batchSize) continue;
      await look(batch);
      batch = [];
    }
    await look(batch);
  } catch (error) {
    // Nobody knows whether the other leads are there.
    return { repaired, unseen: 0, failure: { error } };
  }
  return { repaired, unseen, failure: undefined };
}

/** The classes that can be repaired: leads of neither are in the inbox. */
export const repairedClasses = ['refused', 'missing'] as const satisfies readonly UnreceivedClass[];

interface UnreceivedOptions {
  readonly onArrived: (lead: UnreceivedPlace) => void;
  readonly isSent: (id: string) => boolean;
}

/** Batches are so small that the lookup is fresh when the leads are sent. */
const lookupSize = 64;

/**
 * Yields the leads that an audit found to be refused or missing, except for those that have come since: each batch is looked up
 * once more just before it is yielded. `onArrived` gets a lead that has come; `isSent` tells which leads are not to be resent.
 */
export async function* unreceivedLeads(
  audit: Pick<Audit, 'unreceived'>,
  received: Pick<ReceivedLeads, 'lookUp'>,
  { onArrived, isSent }: UnreceivedOptions,
): AsyncGenerator<readonly UnreceivedLead[]> {
  for (const kind of repairedClasses) {
    let count = 0;
    for await (const leads of audit.unreceived(kind)) {
      for (let start = 0; start < leads.length; start += lookupSize) {
        const batch = leads.slice(start, start + lookupSize);
        const found = await received.lookUp(batch.map(({ id }) => id));
        const unreceived: UnreceivedLead[] = [];
        for (const [i, lead] of batch.entries()) {
          const nth = count;
          count += 1;
          if (found[i] !== undefined) onArrived({ kind, nth });
          if (found[i] !== undefined || isSent(lead.id)) continue;
          // The bytes are copied, since a delivery may wait for a retry long after its batch is gone.
          unreceived.push({ ...lead, bytes: Buffer.from(lead.bytes), kind, nth });
        }
        yield unreceived;
      }
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

/** One lead is tried so often at a receiver that has acknowledged nothing so far. */
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
