import type { PostResult } from '../http/client/poster.ts';
import type { Inbox } from '../inbox/inbox.ts';
import type { ReceivedLeads } from '../inbox/query-types.ts';
import { deliveryOfPulledLead } from '../receiver/backfill.ts';
import { runDeliveries } from '../sender/delivery-run.ts';
import { RunTally } from '../sender/run-tally.ts';
import { type RetrySchedule, type Sender, waitsAskedFor } from '../sender/sender.ts';
import type { OutgoingDelivery } from '../sender/sign-request.ts';
import type { Clock } from '../time/clock.ts';
import type { Audit } from './audit.ts';
import type { UnreceivedClass } from './classify-lead.ts';
import { batchSize } from './compare-leads.ts';

/** A lead that the inbox lacks, in the service's own bytes. */
export interface LostLead {
  readonly leadId: string;
  readonly body: Uint8Array;
}

type LostLeads = AsyncIterable<readonly LostLead[]>;

export interface RepairOptions {
  readonly leads: LostLeads;
  /** The ids of the leads so far. */
  readonly tried: readonly string[];
  /** Shows afterwards which leads are there; undefined where nothing can. */
  readonly received: Pick<ReceivedLeads, 'lookUp'> | undefined;
  /** Stores the leads. Where they are delivered as well, each is stored after the receiver has acknowledged it. */
  readonly store: StoreLeads | undefined;
  readonly delivery: LeadDelivery | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (leads: number) => void;
}

interface Failure {
  readonly error: unknown;
}

export interface RepairResult {
  /** The leads that the inbox has now; where nothing shows that, those that the receiver has acknowledged. */
  readonly repaired: ReadonlySet<string>;
  readonly acknowledged: ReadonlySet<string>;
  readonly tally: RunTally;
  readonly failure: Failure | undefined;
}

/**
 * Delivers or stores leads, or both, and then looks up which of them the inbox has. A failure on the way is part of the
 * result, and is not thrown: the leads before it count.
 */
export async function repair(options: RepairOptions): Promise<RepairResult> {
  const { leads, tried, received, store, delivery } = options;
  const tally = new RunTally();
  const acknowledged = new Set<string>();
  let failure = delivery
    ? await deliverLeads(leads, delivery, { ...options, tally, acknowledged })
    : await failureOf(storeAll(leads, store, options));
  if (received === undefined) return { repaired: acknowledged, acknowledged, tally, failure };
  const repaired = new Set<string>();
  try {
    for (let start = 0; start < tried.length; start += batchSize) {
      const ids = tried.slice(start, start + batchSize);
      const stored = await received.lookUp(ids);
      for (const [i, id] of ids.entries()) if (stored[i] !== undefined) repaired.add(id);
    }
  } catch (error) {
    failure ??= { error };
  }
  return { repaired, acknowledged, tally, failure };
}

async function storeAll(
  leads: LostLeads,
  store: StoreLeads | undefined,
  { signal, onProgress }: RepairOptions,
): Promise<void> {
  let stored = 0;
  for await (const batch of leads) {
    if (signal.aborted) break;
    await store?.(batch);
    onProgress((stored += batch.length));
  }
}

/** The classes that can be repaired: leads of neither are in the inbox. */
export const repairedClasses = ['refused', 'missing'] as const satisfies readonly UnreceivedClass[];

export interface SortedLeads {
  /** The leads that are to be repaired. */
  readonly tried: string[];
  /** The leads that came by themselves after they were found missing. */
  readonly arrived: Set<string>;
  /** The leads that the receiver acknowledged in an earlier round, and that are still not in the inbox. */
  readonly sentBefore: Set<string>;
}

/**
 * Yields the leads that an audit found to be refused or missing, except for those that have come since or were `sent`: each
 * batch is looked up once more just before it is yielded.
 */
export async function* unreceivedLeads(
  audit: Pick<Audit, 'unreceived'>,
  received: Pick<ReceivedLeads, 'lookUp'>,
  sent: ReadonlySet<string>,
  { tried, arrived, sentBefore }: SortedLeads,
): AsyncGenerator<readonly LostLead[]> {
  for (const kind of repairedClasses) {
    for await (const leads of audit.unreceived(kind)) {
      const stored = await received.lookUp(leads.map(({ id }) => id));
      const lost: LostLead[] = [];
      for (const [i, { id, bytes }] of leads.entries()) {
        if (stored[i] !== undefined) arrived.add(id);
        else if (sent.has(id)) sentBefore.add(id);
        else lost.push({ leadId: id, body: bytes });
      }
      tried.push(...lost.map(({ leadId }) => leadId));
      yield lost;
    }
  }
}

export interface LeadDelivery {
  readonly createSender: (schedule: RetrySchedule) => Sender;
  readonly deliveriesOf: (leads: AsyncIterable<LostLead>) => AsyncIterable<OutgoingDelivery>;
  readonly clock: Clock;
}

/** Requests in flight: a repair does not have to be quick, and the receiver has other work. */
const concurrency = 4;

const mostFailures = 20;

/** A lead is tried for less time, unless each attempt hangs, or the receiver asks for long waits. */
const longestSilenceMs = 5 * 60_000;
const attemptsInSilence = 5;

/** Delivers each lead until it is acknowledged, by the sender's schedule. Leads must keep their bytes. */
async function deliverLeads(
  leads: LostLeads,
  { createSender, deliveriesOf, clock }: LeadDelivery,
  options: RepairOptions & { readonly tally: RunTally; readonly acknowledged: Set<string> },
): Promise<Failure | undefined> {
  const { store, signal, onProgress, tally, acknowledged } = options;
  const stop = new AbortController();
  let notStored: Failure | undefined;
  // The inbox stores those together that are acknowledged at the same time.
  const storing: Promise<void>[] = [];
  const keep = async (lead: LostLead): Promise<void> => {
    const failed = await failureOf(store?.([lead]));
    if (failed === undefined) return;
    notStored ??= failed;
    stop.abort();
  };
  const silence = new ReceiverSilence(clock);
  const schedule = repairSchedule(
    () => acknowledged.size > 0,
    () => clock.now(),
  );
  const run = await runDeliveries({
    source: deliveriesOf(oneByOne(leads)),
    sender: createSender(schedule),
    concurrency,
    clock,
    signal: AbortSignal.any([signal, stop.signal]),
    onAttempt(timed) {
      tally.add(timed);
      const { delivery, outcome, result, retryInMs } = timed.attempt;
      const isLast = retryInMs === undefined;
      if (outcome === 'acknowledged') {
        silence.end();
        acknowledged.add(delivery.leadId);
        storing.push(keep(delivery));
      } else {
        // Before anything was acknowledged, the receiver may refuse whatever it gets.
        silence.add(isLast && (acknowledged.size === 0 || failsAnyLead(result)));
        if (silence.isLasting) stop.abort();
      }
      if (isLast) onProgress(tally.acknowledged + tally.failed);
    },
  });
  await Promise.all(storing);
  return notStored ?? run.failure;
}

async function failureOf(work: Promise<void> | undefined): Promise<Failure | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** Counts the attempts since the receiver last acknowledged a lead: one that takes nothing any more is left alone. */
class ReceiverSilence {
  readonly #clock: Pick<Clock, 'steady'>;
  #since: number;
  #attempts = 0;
  #failures = 0;

  constructor(clock: Pick<Clock, 'steady'>) {
    this.#clock = clock;
    this.#since = clock.steady();
  }

  end(): void {
    this.#since = this.#clock.steady();
    this.#attempts = 0;
    this.#failures = 0;
  }

  /** `isFailure`: a lead was given up, and the others would fail in the same way. */
  add(isFailure: boolean): void {
    this.#attempts += 1;
    if (isFailure) this.#failures += 1;
  }

  get isLasting(): boolean {
    const isLong = this.#clock.steady() - this.#since >= longestSilenceMs;
    return this.#failures >= mostFailures || (isLong && this.#attempts >= attemptsInSilence);
  }
}

async function* oneByOne(leads: LostLeads): AsyncGenerator<LostLead> {
  for await (const batch of leads) yield* batch;
}

/** Whether the receiver would answer any other lead in the same way. */
const failsAnyLead = (result: PostResult): boolean =>
  !result.ok || result.status >= 500 || result.status === 410 || result.status === 429;

/** In seconds. Where a receiver fails half the time, one lead in a million stays undelivered after three minutes. */
const waits = [1, 2, 4, 8, ...Array.from({ length: 15 }, () => 10)];

const attemptsWithoutSuccess = 5;

/**
 * A delivery of a repair is tried again only where that may help, and only a few times before the receiver has acknowledged
 * anything. `now` in milliseconds since the epoch.
 */
function repairSchedule(hasAcknowledged: () => boolean, now: () => number): RetrySchedule {
  const schedule = waitsAskedFor(
    waits.map((seconds) => seconds * 1000),
    now,
  );
  return (number, result) => {
    if (!mayPass(result)) return undefined;
    if (number >= attemptsWithoutSuccess && !hasAcknowledged()) return undefined;
    return schedule(number, result);
  };
}

/** A certificate that is not trusted, a wrong secret, a path that is not there or an odd answer stay as they are. */
const mayPass = (result: PostResult): boolean =>
  result.ok
    ? result.status >= 500 || [408, 425, 429].includes(result.status)
    : !/CERT|SIGNATURE|ISSUER|SSL|EPROTO|^HPE_|^UNASKED_CONTINUE$/.test(result.code);

/** Makes leads durable. Rejects with a `CannotStoreError`. */
export type StoreLeads = (leads: readonly LostLead[]) => Promise<void>;

/** Stores pulled leads in the inbox, marked as backfilled, except for those that it has. `baseUrl`: of the service. */
export const storeInInbox =
  (inbox: Pick<Inbox, 'take' | 'lookUp'>, baseUrl: URL, clock: Pick<Clock, 'now'>): StoreLeads =>
  async (leads) => {
    const stored = await inbox.lookUp(leads.map(({ leadId }) => leadId));
    const lacking = leads.filter((_, i) => stored[i] === undefined);
    if (lacking.length === 0) return;
    await inbox.take(
      lacking.map(({ leadId, body }) => {
        const lead = { id: leadId, bytes: body, createdAt: undefined, category: undefined };
        const { delivery } = deliveryOfPulledLead(lead, baseUrl, clock.now());
        return { leadId, source: 'backfill', delivery };
      }),
    );
  };
