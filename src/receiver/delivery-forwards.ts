import type { TakenVerdict } from '../inbox/decide-verdict.ts';
import { remainingDelivery } from '../inbox/delivery-record.ts';
import type { StoredRef } from '../inbox/inbox.ts';
import type { CheckedDelivery, CheckedLead } from '../webhook/check-delivery.ts';
import type { Claim } from './forward-worker.ts';
import type { DeliveryWorker } from './receiver.ts';

/** A lead that is stored. */
export interface TakenLead {
  readonly lead: CheckedLead;
  readonly taken: TakenVerdict & StoredRef;
}

/** The leads of a delivery that go to one target. */
interface TargetLeads {
  readonly worker: DeliveryWorker;
  readonly leads: readonly CheckedLead[];
  /** The worker has kept places for them. */
  readonly isReserved: boolean;
}

/** What the leads of one delivery are forwarded to: from before they are stored to their first attempts. */
export class DeliveryForwards {
  readonly #checked: CheckedDelivery;
  readonly #claimedAt: number;
  readonly #targets: readonly TargetLeads[];

  /** `claimedAt`: now, by the monotonic clock. Once `begin` is called, the workers have their places back. */
  constructor(checked: CheckedDelivery, workers: readonly DeliveryWorker[], claimedAt: number) {
    this.#checked = checked;
    this.#claimedAt = claimedAt;
    this.#targets = workers.map((worker) => {
      const { takes } = worker.target;
      const leads = takes === undefined ? checked.leads : checked.leads.filter(({ lead }) => takes(lead));
      return { worker, leads, isReserved: leads.length > 0 && worker.reserve(leads.length) };
    });
  }

  /** Names of the targets that a lead goes to. */
  targetsOf(lead: CheckedLead): readonly string[] {
    return this.#targets.filter(({ leads }) => leads.includes(lead)).map(({ worker }) => worker.target.name);
  }

  /** Those of them that get it at once. */
  claimedFor(lead: CheckedLead): readonly string[] {
    return this.#targets
      .filter(({ leads, isReserved }) => isReserved && leads.includes(lead))
      .map(({ worker }) => worker.target.name);
  }

  /** The leads are stored: those that are new are sent, or the workers find them in the inbox. None where storing failed. */
  begin(taken: readonly TakenLead[]): void {
    const claims = new Map<CheckedLead, Claim>();
    for (const { lead, taken: stored } of taken) {
      const { kind, leadId, seq, firstAt } = stored;
      if (kind === 'accepted') claims.set(lead, { leadId, seq, tries: 1, since: firstAt });
    }
    const checked = withoutErased(this.#checked, taken);
    for (const { worker, leads, isReserved } of this.#targets) {
      const own = leads.flatMap((lead) => claims.get(lead) ?? []);
      if (isReserved) worker.send(checked, own, leads.length, this.#claimedAt);
      else if (own.length > 0) worker.wake();
    }
  }
}

/** What targets may get: the whole delivery, unless a lead in it was erased. */
function withoutErased(checked: CheckedDelivery, taken: readonly TakenLead[]): CheckedDelivery {
  if (!taken.some(({ taken: { isErased } }) => isErased === true)) return checked;
  const leads = taken.filter(({ taken: { isErased } }) => isErased !== true).map(({ lead }) => lead);
  const places = leads.flatMap(({ place }) => place ?? []);
  return { ...checked, leads, delivery: remainingDelivery(checked.delivery, places) };
}
