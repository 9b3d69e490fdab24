import type { ReceivedLeads } from '../../inbox/received-leads.ts';
import type { Audit } from '../audit.ts';
import type { UnreceivedClass } from '../audit-finding.ts';
import type { PulledLead } from '../lead-spool.ts';

/** What can be repaired: neither is in the inbox. */
export const repairedClasses = ['refused', 'missing'] as const satisfies readonly UnreceivedClass[];

interface UnreceivedOptions {
  readonly onArrived: (id: string) => void;
  readonly isSent: (id: string) => boolean;
}

/** Few enough that the lookup is fresh when they are sent. */
const batchSize = 64;

/**
 * The leads that an audit found to be refused or missing, except for those that have come since: each batch is looked up
 * again just before it is yielded. `onArrived` gets the id of one that has come, `isSent` tells which ones are not to be
 * sent again.
 */
export async function* unreceivedLeads(
  audit: Pick<Audit, 'unreceived'>,
  received: Pick<ReceivedLeads, 'lookUp'>,
  { onArrived, isSent }: UnreceivedOptions,
): AsyncGenerator<readonly PulledLead[]> {
  for (const kind of repairedClasses) {
    for await (const leads of audit.unreceived(kind)) {
      for (let start = 0; start < leads.length; start += batchSize) {
        const batch = leads.slice(start, start + batchSize);
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
