import type { ReceivedLeads } from '../inbox/query-types.ts';
import type { RunTally } from '../sender/delivery-run.ts';
import type { UnreceivedClass } from './classify-lead.ts';
import type { Audit } from './audit.ts';
import { deliverLeads, type LeadDelivery, type StoreLeads } from './deliver-leads.ts';
import type { TemporaryLead } from './temporary-leads.ts';

export interface RepairOptions {
  /** In batches of at most 1,000: what is not in the inbox. */
  readonly leads: AsyncIterable<readonly TemporaryLead[]>;
  /** What shows afterwards which leads are there; undefined where nothing does. */
  readonly received: Pick<ReceivedLeads, 'lookUp'> | undefined;
  /** Stores the leads; after they were acknowledged, where they are delivered as well. */
  readonly store: StoreLeads | undefined;
  readonly delivery: LeadDelivery | undefined;
  readonly signal: AbortSignal;
  /** Called with the number of leads that are done. */
  readonly onProgress: (leads: number) => void;
}

/** What was really done. */
export interface RepairResult {
  /** The inbox has them now; where nothing shows that, the receiver has acknowledged them. */
  readonly repaired: ReadonlySet<string>;
  /** Leads that the receiver has acknowledged. */
  readonly acknowledged: ReadonlySet<string>;
  /** Leads that the receiver has acknowledged, and that the inbox does not have. */
  readonly unseen: number;
  readonly tally: RunTally | undefined;
  /** It was ended since the receiver acknowledged nothing for five minutes. */
  readonly isSilent: boolean;
  /** Why it ended early, other than by the signal. */
  readonly failure: { readonly error: unknown } | undefined;
}

const batchSize = 1000;

/**
 * Delivers or stores leads, or both, and then looks what the inbox has of them. Does not throw for what goes wrong on the
 * way: what was done before counts.
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
  const repaired = received === undefined ? acknowledged : await presentIn(received, tried);
  return {
    repaired,
    acknowledged,
    unseen: [...acknowledged].filter((id) => !repaired.has(id)).length,
    tally: delivered?.tally,
    isSilent: delivered?.isSilent ?? false,
    failure,
  };
}

async function* noted(
  leads: AsyncIterable<readonly TemporaryLead[]>,
  ids: string[],
): AsyncGenerator<readonly TemporaryLead[]> {
  for await (const batch of leads) {
    for (const { id } of batch) ids.push(id);
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

/** Those that are there, and that every target has had. */
async function presentIn(
  received: Pick<ReceivedLeads, 'lookUp'>,
  ids: readonly string[],
): Promise<Set<string>> {
  const present = new Set<string>();
  for (let start = 0; start < ids.length; start += batchSize) {
    const batch = ids.slice(start, start + batchSize);
    const found = await received.lookUp(batch);
    for (const [i, id] of batch.entries()) if (found[i]?.isPending === false) present.add(id);
  }
  return present;
}

/** What can be repaired: neither is in the inbox. */
export const repairedClasses = ['refused', 'missing'] as const satisfies readonly UnreceivedClass[];

interface UnreceivedOptions {
  readonly onArrived: (id: string) => void;
  readonly isSent: (id: string) => boolean;
}

/** Few enough that the lookup is fresh when they are sent. */
const lookupSize = 64;

/**
 * The leads that an audit found to be refused or missing, except for those that have come since: each batch is looked up
 * again just before it is yielded. `onArrived` gets the id of one that has come, `isSent` tells which ones are not to be
 * sent again.
 */
export async function* unreceivedLeads(
  audit: Pick<Audit, 'unreceived'>,
  received: Pick<ReceivedLeads, 'lookUp'>,
  { onArrived, isSent }: UnreceivedOptions,
): AsyncGenerator<readonly TemporaryLead[]> {
  for (const kind of repairedClasses) {
    for await (const leads of audit.unreceived(kind)) {
      for (let start = 0; start < leads.length; start += lookupSize) {
        const batch = leads.slice(start, start + lookupSize);
        const found = await received.lookUp(batch.map(({ id }) => id));
        for (const [i, { id }] of batch.entries()) if (found[i]?.isPending === false) onArrived(id);
        // A delivery may wait for a retry while its batch is long gone.
        yield batch
          .filter(({ id }, i) => found[i] === undefined && !isSent(id))
          .map((lead) => ({ ...lead, bytes: Buffer.from(lead.bytes) }));
      }
    }
  }
}
