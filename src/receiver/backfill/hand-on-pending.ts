import { DataError, LeadNotFoundError } from '../../errors.ts';
import type { StoredDelivery, TargetLease } from '../../inbox/inbox.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import type { PendingLead } from '../dispatcher.ts';
import { type FirstDelivery, firstDeliveries, groupByRequest } from '../redelivery/first-deliveries.ts';
import { asReceived } from '../redelivery/received-delivery.ts';
import { deliveryOfPulledLead } from './pulled-delivery.ts';
import type { RoundOptions } from './round.ts';

type PendingOptions = Pick<
  RoundOptions,
  'service' | 'inbox' | 'receiver' | 'targets' | 'clock' | 'triedBefore'
>;

/** A lead's first delivery, and the targets that it is handed to now. */
interface LeasedLead {
  readonly first: FirstDelivery;
  readonly targets: readonly string[];
}

/**
 * Hands leads that the inbox holds, but some target has not had, to that target, as they came: stored is nothing but the
 * result. One that was tried a short time ago, or that a receiver hands on now, is left alone; one that cannot be read is
 * said, and is no reason to leave the others. `listed`: those of them that the service lists now.
 */
export async function handOnPending(
  ids: readonly string[],
  listed: readonly (RawLead & { readonly id: string })[],
  options: PendingOptions,
): Promise<void> {
  const { service, inbox, receiver, clock, triedBefore } = options;
  const unreadable = (some: readonly string[]) => (error: unknown) => {
    if (!(error instanceof DataError || error instanceof LeadNotFoundError)) throw error;
    const names = some.map((id) => `'${id}'`).join(', ');
    const are = some.length === 1 ? 'is' : 'are';
    service.messages.note(`hand-on ${names}`, `${error.message}; ${names} ${are} not handed on`);
    return [];
  };
  const found: FirstDelivery[] = [];
  for (const id of ids) {
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
      const { leased, unwanted } = await leaseAll(group, options);
      // What is outstanding for the targets of another run alone is taken in by this one, as a push of it would be.
      const pulled = listed.filter(({ id }) => unwanted.has(id));
      await Promise.all([
        redeliver(leased, options).catch(unreadable(leased.map(({ first }) => first.leadId))),
        ...pulled.map((lead) =>
          receiver.handleChecked(
            deliveryOfPulledLead(lead, service.account.baseUrl, clock.now()),
            'backfill',
          ),
        ),
      ]);
    }),
  );
}

/** `unwanted`: ids of leads that are outstanding for none of the targets. */
async function leaseAll(
  group: readonly FirstDelivery[],
  { inbox, targets }: Pick<PendingOptions, 'inbox' | 'targets'>,
): Promise<{ leased: readonly LeasedLead[]; unwanted: ReadonlySet<string> }> {
  const leases = group.flatMap(({ leadId, seq }) =>
    targets.map(({ name }): TargetLease => ({ leadId, seq, target: name })),
  );
  const states = await inbox.lease(leases);
  const leased: LeasedLead[] = [];
  const unwanted = new Set<string>();
  const given: TargetLease[] = [];
  for (const [i, first] of group.entries()) {
    const own = (_: unknown, n: number): boolean => Math.floor(n / targets.length) === i;
    const mine = leases.filter((lease, n) => own(lease, n) && states[n] === 'leased');
    if (states.filter(own).includes('busy')) given.push(...mine);
    else if (mine.length === 0) unwanted.add(first.leadId);
    else leased.push({ first, targets: mine.map(({ target }) => target) });
  }
  if (given.length > 0) await inbox.release(given);
  return { leased, unwanted };
}

/** The leads came in one request, and go out in one. */
async function redeliver(
  leased: readonly LeasedLead[],
  { inbox, receiver, clock }: Pick<PendingOptions, 'inbox' | 'receiver' | 'clock'>,
): Promise<void> {
  const [one] = leased;
  if (one === undefined) return;
  let stored: StoredDelivery | undefined;
  for await (const delivery of inbox.list({ seq: one.first.seq })) stored = delivery;
  if (stored === undefined) return;
  const checked = asReceived(
    { ...stored, receivedAt: clock.now() },
    leased.map(({ first }) => first),
  );
  const pending = checked.leads.flatMap((lead, i): PendingLead[] => {
    const { first, targets } = leased[i] ?? one;
    const { leadId, seq, attempts: attempt, firstAt } = first;
    return [{ lead, stored: { kind: 'pending', leadId, seq, attempt, firstAt, targets, busy: false } }];
  });
  await receiver.handleLeased(checked, pending, 'backfill');
}
