import type { Arrival } from '../inbox/inbox.ts';
import { remainingDelivery } from '../inbox/remaining-content.ts';
import type { CheckedDelivery, CheckedLead } from '../webhook/check-delivery.ts';
import type { Claim } from './forward-attempts.ts';
import type { ForwardWorker } from './forward-worker.ts';
import type { StoredLead } from './receiver-events.ts';

export type DeliveryWorker = Pick<ForwardWorker, 'target' | 'reserve' | 'send' | 'wake'>;

interface TargetLeads {
  readonly worker: DeliveryWorker;
  readonly leads: readonly CheckedLead[];
  readonly isReserved: boolean;
}

/** The forwards of the leads of one delivery, from before they are stored to their first attempts. */
export class DeliveryForwards {
  readonly #checked: CheckedDelivery;
  readonly #claimedAt: number;
  readonly #targets: readonly TargetLeads[];

  /** Reserves places at the workers, which `forwardOrWake` uses or returns. `claimedAt`: now, by the monotonic clock. */
  constructor(checked: CheckedDelivery, workers: readonly DeliveryWorker[], claimedAt: number) {
    this.#checked = checked;
    this.#claimedAt = claimedAt;
    this.#targets = workers.map((worker) => {
      const { takes } = worker.target;
      const leads = takes === undefined ? checked.leads : checked.leads.filter(({ lead }) => takes(lead));
      return { worker, leads, isReserved: leads.length > 0 && worker.reserve(leads.length) };
    });
  }

  /** Names of the targets that a lead goes to, and of those among them that get it at once, so that it is stored as claimed. */
  targetsOf(lead: CheckedLead): Pick<Arrival, 'targets' | 'claimed'> {
    const targets = this.#targets.filter(({ leads }) => leads.includes(lead));
    const claimed = targets.filter(({ isReserved }) => isReserved);
    return { targets: targets.map(nameOf), claimed: claimed.map(nameOf) };
  }

  /** Sends the new leads of those that were stored, or wakes the workers to claim them. Where storing failed, none was stored. */
  forwardOrWake(stored: readonly StoredLead[]): void {
    const claims = new Map<CheckedLead, Claim>();
    for (const { lead, verdict } of stored) {
      const { kind, leadId, seq, firstAt } = verdict;
      // The inbox counted the claim of a new lead as its first, and as its first attempt.
      if (kind === 'accepted') claims.set(lead, { leadId, seq, claim: 1, tries: 1, since: firstAt });
    }
    const checked = withoutErased(this.#checked, stored);
    for (const { worker, leads, isReserved } of this.#targets) {
      const targetClaims = leads.flatMap((lead) => claims.get(lead) ?? []);
      if (isReserved) worker.send(checked, targetClaims, leads.length, this.#claimedAt);
      else if (targetClaims.length > 0) worker.wake();
    }
  }
}

const nameOf = ({ worker }: TargetLeads): string => worker.target.name;

/** The delivery that targets may get: the whole one, unless a lead in it was erased. */
function withoutErased(checked: CheckedDelivery, stored: readonly StoredLead[]): CheckedDelivery {
  if (!stored.some(({ verdict: { isErased } }) => isErased === true)) return checked;
  const leads = stored.filter(({ verdict: { isErased } }) => isErased !== true).map(({ lead }) => lead);
  const places = leads.flatMap(({ place }) => place ?? []);
  return { ...checked, leads, delivery: remainingDelivery(checked.delivery, places) };
}
