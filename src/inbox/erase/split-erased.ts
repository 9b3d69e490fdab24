import { decideErased } from '../decide-verdict.ts';
import type { Group } from '../group-arrivals.ts';
import type { Arrival, TakeResult } from '../inbox.ts';
import type { FindErased } from './erasure.ts';
import { remainingDelivery } from './remaining-delivery.ts';

/** A delivery with a lead that was erased. */
interface SplitGroup {
  /** The other leads, in a delivery that holds nothing else. */
  readonly rest: readonly Arrival[];
  /** The results of all leads, in order; `taken`: those of the rest. */
  readonly results: (taken: readonly TakeResult[]) => TakeResult[];
}

/** Undefined where no lead of the delivery was erased. */
export function splitErased(group: Group, find: FindErased): SplitGroup | undefined {
  const erased = group.map(({ leadId }) => find(leadId));
  if (erased.every((lead) => lead === undefined)) return undefined;
  const others = group.filter((_, i) => erased[i] === undefined);
  const places = others.flatMap(({ place }) => place ?? []);
  const delivery = remainingDelivery(group[0].delivery, places);
  return {
    rest: others.map((arrival) => ({ ...arrival, delivery })),
    results(taken) {
      const left = [...taken];
      return group.flatMap(({ leadId }, i): TakeResult[] => {
        const lead = erased[i];
        if (lead !== undefined) return [{ ...decideErased(leadId, lead), seq: lead.seq }];
        return left.splice(0, 1);
      });
    },
  };
}
