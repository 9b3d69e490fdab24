import type { HandedResult, Inbox, LeaseState, TargetLease } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import { LeadNotFoundError } from '../errors.ts';
import type { ReceiverProblem } from './problems.ts';
import {
  asReceived,
  type FirstDelivery,
  isUnreadable,
  storedDelivery,
  type Unreadable,
} from './stored-deliveries.ts';
import type { Target, TargetResult } from './targets/target.ts';

interface RetryOptions {
  readonly target: Target;
  readonly inbox: Pick<Inbox, 'list' | 'lease' | 'settle' | 'markDoneAtNewAddress' | 'release'>;
  readonly clock: Clock;
  /** The target is the address that the app has now: what it takes is not outstanding for the one that it had. */
  readonly hasMoved: boolean;
  /** The neutral sentence of an error. */
  readonly sentenceOf: (error: unknown) => string;
}

/** The lead of one stored delivery, which is sent once more. */
export type RetriedDelivery = Pick<FirstDelivery, 'leadId' | 'seq' | 'attempt' | 'place'> &
  Partial<Pick<FirstDelivery, 'handedSeq'>>;

export interface Retried extends Omit<HandedResult, 'kind'> {
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

/** What came of a lead for which nothing was sent. `at` in milliseconds since the epoch. */
export const untried = (leadId: string, answer: string, at: number): Retried => ({
  ...{ leadId, answer, at, ok: false, durationMs: 0, reached: true, isDelivered: false, isSettled: false },
  insteadOf: undefined,
});

/**
 * Delivers the leads of one stored request to the target, and keeps what came of it, for each lead. What cannot be read fails,
 * and stays as it was.
 */
export async function retryDelivery(
  leads: readonly RetriedDelivery[],
  { target, inbox, clock, hasMoved, sentenceOf }: RetryOptions,
): Promise<readonly Retried[]> {
  const leases = leads.map(({ leadId, seq }) => ({ leadId, seq, target: target.name }));
  const answers = await inbox.lease(leases);
  const states = answers.map(({ state }) => state);
  // What is pending for something else is not delivered again to an address that had it.
  const hasHad = (i: number): boolean => hasMoved && states[i] === 'settled';
  const free = leads.flatMap((lead, i) => {
    const handed = states[i] === 'settled' ? 1 : (answers[i]?.tries ?? 0);
    return states[i] === 'busy' || hasHad(i)
      ? []
      : [{ ...lead, attempt: Math.max(lead.attempt, handed + 1) }];
  });
  const results = await deliver(free, target, inbox);
  const at = clock.now();
  // All at once, so that they share a transaction.
  const retried = await Promise.all(
    leases.map(async (lease, i): Promise<Retried | undefined> => {
      const { leadId } = lease;
      if (hasHad(i)) {
        const [insteadOf] = await inbox.markDoneAtNewAddress([lease]);
        return insteadOf === undefined
          ? undefined
          : { ...untried(leadId, 'had it before', at), ok: true, insteadOf };
      }
      if (states[i] === 'busy') return untried(leadId, 'a receiver is handing it on now', at);
      const delivered = results instanceof Error ? results : results.get(leadId);
      if (delivered === undefined) throw new Error('a target gave no result');
      if (delivered instanceof Error) {
        await inbox.release([lease]);
        return untried(leadId, sentenceOf(delivered), at);
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

/** By id of a lead, what came of delivering the request that brought it; or why that cannot be read. */
async function deliver(
  leads: readonly RetriedDelivery[],
  target: Target,
  inbox: Pick<Inbox, 'list'>,
): Promise<ReadonlyMap<string, TargetResult> | Unreadable> {
  const results = new Map<string, TargetResult>();
  const [first] = leads;
  if (first === undefined) return results;
  const received = await receivedOf(first, leads, inbox);
  if (received instanceof Error) return received;
  const attempted = received.leads.map((lead, i) => ({ ...lead, attempt: leads[i]?.attempt ?? 1 }));
  for (const [i, result] of (await Promise.all(target.deliver(received, attempted))).entries()) {
    const leadId = leads[i]?.leadId;
    if (leadId !== undefined) results.set(leadId, result);
  }
  return results;
}

async function receivedOf(
  { seq, handedSeq = seq, leadId }: RetriedDelivery,
  leads: readonly RetriedDelivery[],
  inbox: Pick<Inbox, 'list'>,
): Promise<CheckedDelivery | Unreadable> {
  try {
    const stored = await storedDelivery(inbox, handedSeq);
    if (stored !== undefined) return asReceived(stored, leads);
    return new LeadNotFoundError({ kind: 'no-delivery-of-lead', leadId } satisfies ReceiverProblem);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return error;
  }
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
