import { messageOf } from '../errors.ts';
import type { Arrival, Inbox, Source, TakeResult } from '../inbox/inbox.ts';
import type { Messages } from '../output/messages.ts';
import type { CheckedDelivery, CheckedLead, Policy } from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { Rejection } from '../webhook/rejection.ts';
import { nonceKey } from '../webhook/nonce-key.ts';
import type { ReceiverObserver } from './metrics/receiver-observer.ts';

/** A lead that the inbox has taken. */
export interface StoredLead {
  readonly lead: CheckedLead;
  readonly stored: Exclude<TakeResult, Rejection>;
}

interface DeliveryStoreOptions {
  readonly inbox: Pick<Inbox, 'take' | 'reject'>;
  readonly policy: Policy;
  readonly messages: Pick<Messages, 'note'>;
  readonly observer: ReceiverObserver | undefined;
}

/** The step from checked to stored: dedupes and keeps deliveries in the inbox. */
export class DeliveryStore {
  readonly #options: DeliveryStoreOptions;

  constructor(options: DeliveryStoreOptions) {
    this.#options = options;
  }

  /** Durable, all leads or none, when it resolves. Rejects with a `CannotStoreError` when the inbox cannot write. */
  async store(checked: CheckedDelivery, source: Source): Promise<readonly StoredLead[] | Rejection> {
    const { policy } = this.#options;
    const { delivery, leads } = checked;
    const nonce = checked.nonce === undefined ? undefined : nonceKey(policy.scheme.name, checked.nonce);
    const arrivals = leads.map(({ leadId, place }) => ({ delivery, leadId, place, source, nonce }));
    const taken = await this.#take(arrivals);
    const stored: StoredLead[] = [];
    for (const [i, lead] of leads.entries()) {
      const result = taken[i];
      if (result === undefined) throw new Error('the inbox returned no result for a lead');
      // A replay is one of the whole delivery.
      if (result.kind === 'rejected') return result;
      stored.push({ lead, stored: result });
    }
    return stored;
  }

  #take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    const { inbox, observer } = this.#options;
    return observer === undefined ? inbox.take(arrivals) : observedTake(inbox, arrivals, observer);
  }

  /** Keeps a rejected delivery without waiting for it: its answer does not depend on that. */
  keepRejected(delivery: Delivery, rejection: Rejection, leadId: string | undefined): void {
    const { inbox, messages } = this.#options;
    inbox.reject([{ delivery, rejection, leadId }]).catch((error: unknown) => {
      messages.note('reject', `${messageOf(error)}; rejected deliveries are not kept`);
    });
  }
}

async function observedTake(
  inbox: Pick<Inbox, 'take'>,
  arrivals: readonly Arrival[],
  observer: ReceiverObserver,
): Promise<readonly TakeResult[]> {
  const startedAt = observer.now();
  try {
    const taken = await inbox.take(arrivals);
    observer.stored(observer.now() - startedAt);
    return taken;
  } catch (error) {
    observer.notStored();
    throw error;
  }
}
