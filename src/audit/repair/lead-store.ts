import type { Inbox } from '../../inbox/inbox.ts';
import { deliveryOfPulledLead } from '../../receiver/backfill/pulled-delivery.ts';
import type { Clock } from '../../time/clock.ts';
import type { PulledLead } from '../lead-spool.ts';

interface LeadStoreOptions {
  readonly inbox: Pick<Inbox, 'take' | 'lookUp'>;
  /** Where the leads were pulled from. */
  readonly baseUrl: URL;
  readonly clock: Pick<Clock, 'now'>;
}

/** Stores pulled leads in the inbox, marked as `listen --backfill` marks them. */
export class LeadStore {
  readonly #options: LeadStoreOptions;

  constructor(options: LeadStoreOptions) {
    this.#options = options;
  }

  /** Durable when it resolves; leaves alone what the inbox has. Rejects with a `CannotStoreError`. */
  async take(leads: readonly PulledLead[]): Promise<void> {
    const { inbox, baseUrl, clock } = this.#options;
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
  }
}
