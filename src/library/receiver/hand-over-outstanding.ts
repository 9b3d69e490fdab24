import { handOn } from '../../receiver/redelivery/hand-on.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { CheckedOptions } from './checked-options.ts';
import type { OpenReceiver } from './open-receiver.ts';

interface OutstandingOptions extends Pick<CheckedOptions, 'clock' | 'concurrency' | 'onError'> {
  readonly target: Target;
  /** A lead that was tried later than that is left to the sender's own retries; milliseconds since the epoch. */
  readonly triedBefore: number;
  /** Ends the round: leads that are being handed over are finished, and no other one is started. */
  readonly signal: AbortSignal;
}

/** One round: hands over each lead that is stored and that `onLead` has not taken. Rejects when the inbox cannot be read. */
export async function handOverOutstanding(
  { receiver, inbox }: Pick<OpenReceiver, 'receiver' | 'inbox'>,
  { target, signal, onError, ...options }: OutstandingOptions,
): Promise<void> {
  // Half of the places, so that a delivery never waits behind a round alone.
  const most = Math.max(1, Math.floor(options.concurrency / 2));
  const handOver = async (leadIds: readonly string[]): Promise<void> => {
    await handOn(leadIds, {
      ...options,
      inbox,
      receiver,
      targets: [target],
      attemptOf: ({ attempts, handed }) => Math.max(attempts, handed) + 1,
      onUnreadable: (ids, error) => ids.forEach((leadId) => onError(error, { leadId })),
    });
  };
  let some: string[] = [];
  for await (const { leadId } of inbox.unsettled(target.name)) {
    if (signal.aborted) return;
    some.push(leadId);
    if (some.length < most) continue;
    await handOver(some);
    some = [];
  }
  if (!signal.aborted) await handOver(some);
}
