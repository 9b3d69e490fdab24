import { CannotStoreError } from '../../../inbox/cannot-store-error.ts';
import type { StoredRef } from '../../../inbox/inbox.ts';
import type { ReceiverInbox } from './inbox-opener.ts';

/** The part of an inbox that takes deliveries. */
type Writing = Pick<ReceiverInbox, 'take' | 'reject' | 'settle' | 'release'>;

/** The same, which tells `onError` what it cannot store: its sender learns no more than a 503. */
export function toldInbox(
  inbox: ReceiverInbox,
  onError: (error: unknown, about: { readonly leadId?: string | undefined }) => unknown,
): Writing {
  const told = async <T>(refs: readonly Pick<StoredRef, 'leadId'>[], work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      // Any other error is told where it ends.
      if (error instanceof CannotStoreError) {
        onError(error, { leadId: refs.length === 1 ? refs[0]?.leadId : undefined });
      }
      throw error;
    }
  };
  return {
    take: (arrivals) => told(arrivals, inbox.take(arrivals)),
    reject: (rejected) => inbox.reject(rejected),
    settle: (leases) => told(leases, inbox.settle(leases)),
    release: (leases) => told(leases, inbox.release(leases)),
  };
}
