import type { HandedResult, Inbox, LeaseState, TargetLease } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import { asReceived, type FirstDelivery, storedDelivery } from './stored-deliveries.ts';
import type { Target, TargetResult } from './targets/target.ts';

interface RetryOptions {
  readonly target: Target;
  readonly inbox: Pick<Inbox, 'list' | 'lease' | 'settle' | 'markDoneAtNewAddress' | 'release'>;
  readonly clock: Clock;
  /** The target is the address that the app has now: what it takes is not outstanding for the one that it had. */
  readonly hasMoved: boolean;
}

/** The lead of one stored delivery, which is sent once more. */
export type RetriedDelivery = Pick<FirstDelivery, 'leadId' | 'seq' | 'attempt' | 'place'>;

export interface Retried extends HandedResult {
  readonly leadId: string;
  /** Label of the target for which the lead is not outstanding any more, because this address took it. */
  readonly insteadOf: string | undefined;
  /** False as well where the target had the lead before. */
  readonly isDelivered: boolean;
  /** The lead was outstanding for the target, and is not any more. */
  readonly isSettled: boolean;
  /** False where the target could not be reached, or did not answer. */
  readonly reached: boolean;
}

/** Delivers the leads of one stored request to the target, and keeps what came of it, for each lead. */
export async function retryDelivery(
  leads: readonly RetriedDelivery[],
  { target, inbox, clock, hasMoved }: RetryOptions,
): Promise<readonly Retried[]> {
  const leases = leads.map(({ leadId, seq }) => ({ leadId, seq, target: target.name }));
  const states = (await inbox.lease(leases)).map(({ state }) => state);
  // What is pending for something else is not delivered again to an address that had it.
  const hasHad = (i: number): boolean => hasMoved && states[i] === 'settled';
  const free = leads.filter((_, i) => states[i] !== 'busy' && !hasHad(i));
  const results = await deliver(free, target, inbox);
  const at = clock.now();
  // All at once, so that they share a transaction.
  const retried = await Promise.all(
    leases.map(async (lease, i): Promise<Retried | undefined> => {
      const { leadId } = lease;
      const untried = { leadId, durationMs: 0, at, reached: true, isDelivered: false, isSettled: false };
      if (hasHad(i)) {
        const [insteadOf] = await inbox.markDoneAtNewAddress([lease]);
        return insteadOf === undefined
          ? undefined
          : { ...untried, ok: true, answer: 'had it before', insteadOf };
      }
      const delivered = results.get(leadId);
      if (delivered === undefined) {
        return { ...untried, ok: false, answer: 'a receiver is handing it on now', insteadOf: undefined };
      }
      const { ok, answer, durationMs, status } = delivered;
      const result = { ok, answer, durationMs, at, kind: hasMoved ? 'retry' : 'replay' } as const;
      const insteadOf = await keep(inbox, { ...lease, result }, states[i], hasMoved);
      const isSettled = ok && states[i] === 'leased';
      return { leadId, ...result, insteadOf, reached: status !== undefined, isDelivered: ok, isSettled };
    }),
  );
  return retried.filter((one) => one !== undefined);
}

/** By id of a lead, what came of delivering the request that brought it. */
async function deliver(
  leads: readonly RetriedDelivery[],
  target: Target,
  inbox: Pick<Inbox, 'list'>,
): Promise<ReadonlyMap<string, TargetResult>> {
  const results = new Map<string, TargetResult>();
  const [first] = leads;
  const stored = first && (await storedDelivery(inbox, first.seq));
  if (stored === undefined) return results;
  const received = asReceived(stored, leads);
  const attempted = received.leads.map((lead, i) => ({ ...lead, attempt: leads[i]?.attempt ?? 1 }));
  for (const [i, result] of (await Promise.all(target.deliver(received, attempted))).entries()) {
    const leadId = leads[i]?.leadId;
    if (leadId !== undefined) results.set(leadId, result);
  }
  return results;
}

/** The label of another target for which the lead is not outstanding any more, because this address took it. */
async function keep(
  inbox: RetryOptions['inbox'],
  lease: TargetLease & { readonly result: HandedResult },
  state: LeaseState | undefined,
  hasMoved: boolean,
): Promise<string | undefined> {
  if (lease.result.ok && state === 'leased') await inbox.settle([lease]);
  else if (lease.result.ok && hasMoved) return (await inbox.markDoneAtNewAddress([lease]))[0];
  else await inbox.release([lease]);
  return undefined;
}
