import type { ErasedCounts, ErasedLead, Erasure } from '../erase/erasure.ts';
import type { DeliveryLog } from './delivery-log.ts';

interface MemoryStore {
  readonly deliveries: DeliveryLog;
  /** Undefined for an id that is not known. */
  readonly leadOf: (leadId: string) => (ErasedLead & { readonly isPending: boolean }) | undefined;
  readonly replace: (leadId: string, erased: ErasedLead) => void;
}

/** `Inbox.erase`. */
export function eraseFromMemory({ leadIds, rejected }: Erasure, store: MemoryStore): ErasedCounts {
  const { deliveries, leadOf, replace } = store;
  const ids = new Set(leadIds);
  const found = deliveries.summaries(
    ({ seq, leadId, verdict }) =>
      (leadId !== undefined && ids.has(leadId)) || (verdict === 'rejected' && rejected.includes(seq)),
  );
  const known = new Set<string>();
  let leads = 0;
  let pending = 0;
  for (const leadId of ids) {
    const lead = leadOf(leadId);
    if (lead !== undefined) leads += 1;
    if (lead?.isPending === true) pending += 1;
    // Of an id that was only rejected, too, nothing is to be stored any more.
    const first = found.find((one) => one.leadId === leadId);
    const kept = lead ?? (first && { seq: first.seq, firstAt: first.receivedAt, attempts: 0 });
    if (kept === undefined) continue;
    replace(leadId, kept);
    known.add(leadId);
  }
  deliveries.erase(new Set(found.map(({ seq }) => seq)), known);
  const refused = found.filter(({ verdict }) => verdict === 'rejected').length;
  return { leads, deliveries: found.length - refused, rejected: refused, pending };
}
