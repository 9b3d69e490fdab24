import type { RawLead } from '../../lead/raw-lead.ts';
import { handOn } from '../redelivery/hand-on.ts';
import { deliveryOfPulledLead } from './pulled-delivery.ts';
import type { RoundOptions } from './round.ts';

type PendingOptions = Pick<
  RoundOptions,
  'service' | 'inbox' | 'receiver' | 'targets' | 'clock' | 'triedBefore'
>;

/**
 * Hands on leads that are pending in the inbox, and says which of them cannot be read. `listed`: those of them that the
 * service lists now.
 */
export async function handOnPending(
  ids: readonly string[],
  listed: readonly (RawLead & { readonly id: string })[],
  options: PendingOptions,
): Promise<void> {
  const { service, receiver, clock } = options;
  const unwanted = await handOn(ids, {
    ...options,
    onUnreadable(some, { message }) {
      const names = some.map((id) => `'${id}'`).join(', ');
      const are = some.length === 1 ? 'is' : 'are';
      service.messages.note(`hand-on ${names}`, `${message}; ${names} ${are} not handed on`);
    },
  });
  // What is outstanding for the targets of another run alone is taken in by this one, as a push of it would be.
  await Promise.all(
    listed
      .filter(({ id }) => unwanted.has(id))
      .map((lead) =>
        receiver.handleChecked(deliveryOfPulledLead(lead, service.account.baseUrl, clock.now()), 'backfill'),
      ),
  );
}
