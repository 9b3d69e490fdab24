import { messageOf } from '../errors.ts';
import type { Inbox, Source, TakeResult } from '../inbox/inbox.ts';
import type { Messages } from '../output/messages.ts';
import type { CheckedDelivery, Policy } from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { Rejection } from '../webhook/rejection.ts';
import { nonceKey } from '../webhook/nonce-key.ts';

interface DeliveryStoreOptions {
  readonly inbox: Pick<Inbox, 'take' | 'reject'>;
  readonly policy: Policy;
  readonly messages: Pick<Messages, 'note'>;
}

/** The step from checked to stored: dedupes and keeps deliveries in the inbox. */
export class DeliveryStore {
  readonly #options: DeliveryStoreOptions;

  constructor(options: DeliveryStoreOptions) {
    this.#options = options;
  }

  /** Durable when it resolves. Rejects with a `CannotStoreError` when the inbox cannot write. */
  async store({ delivery, leadId, nonce }: CheckedDelivery, source: Source): Promise<TakeResult> {
    const { inbox, policy } = this.#options;
    const nonceName = nonce === undefined ? undefined : nonceKey(policy.scheme.name, nonce);
    const [stored] = await inbox.take([{ delivery, leadId, source, nonce: nonceName }]);
    if (stored === undefined) throw new Error('the inbox returned no result for a delivery');
    return stored;
  }

  /** Keeps a rejected delivery without waiting for it: its answer does not depend on that. */
  keepRejected(delivery: Delivery, rejection: Rejection, leadId: string | undefined): void {
    const { inbox, messages } = this.#options;
    inbox.reject([{ delivery, rejection, leadId }]).catch((error: unknown) => {
      messages.note('reject', `${messageOf(error)}; rejected deliveries are not kept`);
    });
  }
}
