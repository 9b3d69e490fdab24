import type { Inbox, TargetLease } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import type { Receiver } from './create-receiver.ts';
import type { PendingLead } from './deliver-to-targets.ts';
import {
  asReceived,
  firstDeliveries,
  type FirstDelivery,
  groupByRequest,
  isUnreadable,
  storedDelivery,
} from './stored-deliveries.ts';
import type { Target } from './targets/target.ts';

export interface DeliverPendingOptions {
  readonly inbox: Pick<Inbox, 'list' | 'lease'>;
  readonly receiver: Pick<Receiver, 'handOn' | 'isDispatching' | 'release'>;
  /** Of the receiver. */
  readonly targets: readonly Pick<Target, 'name'>[];
  readonly clock: Pick<Clock, 'now' | 'steady'>;
  /** A pending lead that was tried later than that is left alone; milliseconds since the epoch. */
  readonly triedBefore: number;
  /** Leads that cannot be read, so that they are not delivered. */
  readonly onUnreadable: (leadIds: readonly string[], error: unknown) => void;
}

/** A lead's first delivery, and the targets that it is handed to now. */
interface LeasedLead {
  readonly first: FirstDelivery;
  readonly targets: readonly string[];
}

/**
 * Delivers leads that the inbox holds, but some target has not had, to that target, as they came: stored is nothing but the
 * result. One that was tried a short time ago, or that a receiver is delivering now, is left alone; one that cannot be read is
 * no reason to leave the others.
 */
export async function deliverPending(
  leadIds: readonly string[],
  options: DeliverPendingOptions,
): Promise<void> {
  const { inbox, receiver, clock, triedBefore, onUnreadable } = options;
  const unreadable = (some: readonly string[]) => (error: unknown) => {
    if (!isUnreadable(error)) throw error;
    onUnreadable(some, error);
    return [];
  };
  const found: FirstDelivery[] = [];
  for (const id of leadIds) {
    found.push(...(await firstDeliveries(inbox, [id]).catch(unreadable([id]))));
  }
  const now = clock.now();
  const due = found.filter(
    ({ leadId, lastTriedAt: at }) =>
      // Since the future some clock was set back: nobody knows how long ago that was.
      (at <= triedBefore || at > now) && !receiver.isDispatching(leadId),
  );
  await Promise.all(
    groupByRequest(due).map(async (group) => {
      const leasedAt = clock.steady();
      const leased = await leaseAll(group, options);
      await redeliver(leased, leasedAt, options).catch(unreadable(leased.map(({ first }) => first.leadId)));
    }),
  );
}

/** Those that are outstanding for some target, and that nobody else delivers now. */
async function leaseAll(
  group: readonly FirstDelivery[],
  { inbox, targets, receiver }: Pick<DeliverPendingOptions, 'inbox' | 'targets' | 'receiver'>,
): Promise<readonly LeasedLead[]> {
  const leases = group.flatMap(({ leadId, seq }) =>
    targets.map(({ name }): TargetLease => ({ leadId, seq, target: name })),
  );
  const states = (await inbox.lease(leases)).map(({ state }) => state);
  const leased: LeasedLead[] = [];
  const given: TargetLease[] = [];
  for (const [i, first] of group.entries()) {
    const own = (_: unknown, n: number): boolean => Math.floor(n / targets.length) === i;
    const mine = leases.filter((lease, n) => own(lease, n) && states[n] === 'leased');
    if (states.filter(own).includes('busy')) given.push(...mine);
    else if (mine.length > 0) leased.push({ first, targets: mine.map(({ target }) => target) });
  }
  if (given.length > 0) await receiver.release(given);
  return leased;
}

/** The leads came in one request, and go out in one. */
async function redeliver(
  leased: readonly LeasedLead[],
  leasedAt: number,
  { inbox, receiver, clock }: DeliverPendingOptions,
): Promise<void> {
  const [one] = leased;
  if (one === undefined) return;
  const stored = await storedDelivery(inbox, one.first.handedSeq);
  if (stored === undefined) return;
  const checked = asReceived(
    { ...stored, receivedAt: clock.now() },
    leased.map(({ first }) => first),
  );
  const pending = checked.leads.flatMap((lead, i): PendingLead[] => {
    const { first, targets } = leased[i] ?? one;
    const { leadId, seq, firstAt, attempts, handed } = first;
    const tries = Math.max(attempts, handed);
    const wanted = targets.map((name) => ({ name, tries }));
    const attempt = tries + 1;
    return [
      { lead, stored: { kind: 'pending', leadId, seq, attempt, firstAt, targets: wanted, busy: false } },
    ];
  });
  await receiver.handOn(checked, pending, leasedAt);
}
