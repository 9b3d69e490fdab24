import { createPoster, type PostResult } from '../http/client/poster.ts';
import type { TlsTrust } from '../http/client/trust.ts';
import type { ReceivedLeads } from '../inbox/query-types.ts';
import { deliveryOfPulledLead } from '../receiver/backfill.ts';
import { runDeliveries, RunTally, type TimedAttempt } from '../sender/delivery-run.ts';
import { createSender, outgoingDeliveries, type RetrySchedule, waitsAskedFor } from '../sender/sender.ts';
import type { Signer } from '../sender/sign-request.ts';
import type { Clock } from '../time/clock.ts';
import type { Audit, AuditCounts } from './audit.ts';
import { unreceivedClasses } from './classify-lead.ts';
import { batchSize, type ReceivedSide } from './compare-leads.ts';

/** A receiver that leads are delivered to, and how it is reached. */
export interface RepairReceiver {
  readonly url: URL;
  readonly trust: TlsTrust;
  readonly proxy: URL | undefined;
  readonly timeoutMs: number;
  readonly signer: Signer;
}

/** `delivery` is undefined where leads are only stored. */
export interface RepairMeans {
  readonly delivery: RepairReceiver | undefined;
  /** The ids of leads that the receiver acknowledged in earlier rounds: none is delivered again. A repair adds its own. */
  readonly acknowledgedEver: Set<string>;
}

/** An audit and its two sides, of which `baseUrl` is the service's. */
export interface ComparedSides {
  readonly audit: Pick<Audit, 'isProven' | 'unreceived'> & { readonly counts: Pick<AuditCounts, 'byClass'> };
  readonly received: Pick<ReceivedSide, 'name' | 'hasTimes' | 'store'> & {
    readonly leads: Pick<ReceivedLeads, 'lookUp'>;
  };
  readonly baseUrl: URL;
}

interface RepairContext {
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onProgress: (leads: number) => void;
}

/** A lead that the inbox lacks, in the service's own bytes. */
interface LostLead {
  readonly leadId: string;
  readonly body: Uint8Array;
}

/** Requests in flight: a repair does not have to be quick, and the receiver has other work. */
const concurrency = 4;

/**
 * A receiver is left alone after this many failed leads in a row, or after this time without an acknowledgement, which is longer than
 * any wait that a receiver may ask for: these are ten minutes at most.
 */
const mostFailuresInRow = 20;
const longestWithoutSuccessMs = 11 * 60_000;

/** In milliseconds. Where a receiver fails half the time, one lead in a million stays undelivered after three minutes. */
const waits = [1, 2, 4, 8, ...Array.from({ length: 15 }, () => 10)].map((seconds) => seconds * 1000);
const mostAttemptsBeforeSuccess = 5;

/**
 * Repairs the leads that an audit found refused or missing. They are delivered, and stored in the inbox, where it is open for that,
 * once the receiver has acknowledged them, since its inbox may be another one, and the next audit of this one would find them
 * missing. Without a receiver they are only stored. At last it looks up which of them the inbox has. A failure on the
 * way ends the work, and is kept and not thrown: the leads before it count.
 */
export class Repair {
  /** The leads that the inbox has now; where nothing shows that, those that the receiver has acknowledged. */
  repaired = new Set<string>();
  readonly acknowledged = new Set<string>();
  readonly tally = new RunTally();
  failure: unknown;
  /** Leads that came by themselves after they were found missing. */
  arrived = 0;
  /** Leads that were acknowledged in an earlier round, and that are still not in the inbox. */
  sentBefore = 0;
  readonly #sides: ComparedSides;
  readonly #means: RepairMeans;
  readonly #context: RepairContext;
  /** All leads of the audit's findings that were looked at, whatever became of them. */
  readonly #visitedIds: string[] = [];
  readonly #stopDelivering = new AbortController();
  /** No delivery waits for these, so that the inbox stores together what is acknowledged at the same time. */
  readonly #pendingStores: Promise<void>[] = [];
  /** Leads that were given up since a lead was last acknowledged, as far as the receiver would answer any lead so. */
  #failuresInRow = 0;
  #lastSuccessAt: number;

  constructor(sides: ComparedSides, means: RepairMeans, context: RepairContext) {
    this.#sides = sides;
    this.#means = means;
    this.#context = context;
    this.#lastSuccessAt = context.clock.steady();
  }

  async run(): Promise<void> {
    const { delivery, acknowledgedEver } = this.#means;
    await this.#keepFailure(delivery === undefined ? this.#storeAll() : this.#deliverAll(delivery));
    for (const id of this.acknowledged) acknowledgedEver.add(id);
    // An application's own file does not show afterwards which leads came.
    if (this.#sides.received.hasTimes) await this.#keepFailure(this.#lookUpRepaired());
    else this.repaired = this.acknowledged;
  }

  async #keepFailure(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.failure ??= error;
    }
  }

  /** Looks each batch up once more just before it is yielded, and counts the leads that need no repair. */
  async *#takeLostLeads(): AsyncGenerator<readonly LostLead[]> {
    const { audit, received } = this.#sides;
    for (const kind of unreceivedClasses) {
      for await (const leads of audit.unreceived(kind)) {
        const stored = await received.leads.lookUp(leads.map(({ id }) => id));
        const lost: LostLead[] = [];
        for (const [i, { id, bytes }] of leads.entries()) {
          if (stored[i] !== undefined) {
            this.arrived += 1;
            this.repaired.add(id);
          } else if (this.#means.acknowledgedEver.has(id)) this.sentBefore += 1;
          else lost.push({ leadId: id, body: bytes });
          this.#visitedIds.push(id);
        }
        yield lost;
      }
    }
  }

  async #storeAll(): Promise<void> {
    const { signal, onProgress } = this.#context;
    for await (const leads of this.#takeLostLeads()) {
      if (signal.aborted) break;
      await this.#store(leads);
      onProgress(this.#visitedIds.length);
    }
  }

  /** Stores leads that the inbox lacks, marked as backfilled. */
  async #store(leads: readonly LostLead[]): Promise<void> {
    const { received, baseUrl } = this.#sides;
    const { store } = received;
    if (store === undefined) return;
    const stored = await store.lookUp(leads.map(({ leadId }) => leadId));
    const lacking = leads.filter((_, i) => stored[i] === undefined);
    if (lacking.length === 0) return;
    await store.take(
      lacking.map(({ leadId, body }) => {
        const lead = { id: leadId, bytes: body, createdAt: undefined, category: undefined };
        const { delivery } = deliveryOfPulledLead(lead, baseUrl, this.#context.clock.now());
        return { leadId, source: 'backfill', delivery };
      }),
    );
  }

  async #deliverAll({ url, signer, ...connection }: RepairReceiver): Promise<void> {
    const { clock, random, signal } = this.#context;
    const poster = createPoster({ ...connection, connections: concurrency });
    const { failure } = await runDeliveries({
      source: outgoingDeliveries(oneByOne(this.#takeLostLeads()), url.href, 1, random),
      sender: createSender({ signer, schedule: this.#schedule, poster, clock }),
      concurrency,
      clock,
      signal: AbortSignal.any([signal, this.#stopDelivering.signal]),
      onAttempt: (timed) => this.#onAttempt(timed),
    });
    poster.close();
    await Promise.all(this.#pendingStores);
    this.failure ??= failure?.error;
  }

  #onAttempt(timed: TimedAttempt): void {
    const { clock, onProgress } = this.#context;
    const { delivery, outcome, result, retryInMs } = timed.attempt;
    this.tally.add(timed);
    onProgress(this.tally.acknowledged + this.tally.failed);
    if (outcome === 'acknowledged') {
      this.#failuresInRow = 0;
      this.#lastSuccessAt = clock.steady();
      this.acknowledged.add(delivery.leadId);
      this.#pendingStores.push(this.#storeDelivered(delivery));
      return;
    }
    const isGivenUp = retryInMs === undefined;
    // Before anything was acknowledged, the receiver may refuse whatever it gets.
    const concernsAnyLead = this.acknowledged.size === 0 || failsAnyLead(result);
    if (isGivenUp && concernsAnyLead) this.#failuresInRow += 1;
    const failsTooLong = clock.steady() - this.#lastSuccessAt > longestWithoutSuccessMs;
    if (failsTooLong || this.#failuresInRow >= mostFailuresInRow) this.#stopDelivering.abort();
  }

  async #storeDelivered(lead: LostLead): Promise<void> {
    await this.#keepFailure(this.#store([lead]));
    if (this.failure !== undefined) this.#stopDelivering.abort();
  }

  /** A delivery is tried again only where that may help, and only a few times before anything was acknowledged. */
  readonly #schedule: RetrySchedule = (number, result) => {
    const isHopeless = this.acknowledged.size === 0 && number >= mostAttemptsBeforeSuccess;
    if (isHopeless || !mayPassLater(result)) return undefined;
    return waitsAskedFor(waits, () => this.#context.clock.now())(number, result);
  };

  async #lookUpRepaired(): Promise<void> {
    for (let start = 0; start < this.#visitedIds.length; start += batchSize) {
      const ids = this.#visitedIds.slice(start, start + batchSize);
      const stored = await this.#sides.received.leads.lookUp(ids);
      for (const [i, id] of ids.entries()) if (stored[i] !== undefined) this.repaired.add(id);
    }
  }
}

async function* oneByOne<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}

/** Whether it is the receiver that fails, and not this lead. */
const failsAnyLead = (result: PostResult): boolean =>
  !result.ok || result.status >= 500 || result.status === 410 || result.status === 429;

/** A certificate that is not trusted, a wrong secret, a path that is not there or an odd answer stay as they are. */
const mayPassLater = (result: PostResult): boolean =>
  result.ok
    ? result.status >= 500 || [408, 425, 429].includes(result.status)
    : !/CERT|SIGNATURE|ISSUER|SSL|EPROTO|^HPE_|^UNASKED_CONTINUE$/.test(result.code);
