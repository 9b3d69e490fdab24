import { messageOf } from '../errors.ts';
import type { AttemptResult, Inbox, LeadClaim, StoredDelivery } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import { asReceived, isUnreadable, leadOf } from './stored-request.ts';
import type { Target, TargetResult } from './targets/target.ts';

interface RetryOptions {
  readonly target: Target;
  readonly inbox: Pick<Inbox, 'claimLeads' | 'record'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** The target is the address that the app has now: a lead that it takes does not wait for the one that it had. */
  readonly isMove: boolean;
}

/** The result of sending one stored lead for a person. */
export interface Retried extends Omit<AttemptResult, 'kind'> {
  readonly leadId: string;
  readonly isTried: boolean;
  /** False where the target could not be reached, or did not answer. */
  readonly reached: boolean;
  /** Label of the target for which the lead waited, and does not any more. */
  readonly insteadOf: string | undefined;
}

/** The result for a lead that was not sent. `endedAt` in milliseconds since the epoch. */
export const untried = (leadId: string, answer: string, endedAt: number): Retried => ({
  ...{ leadId, answer, at: endedAt, ok: false, durationMs: 0, isTried: false, reached: true },
  insteadOf: undefined,
});

/** How long a lead is waited for that another process sends, and between two looks; in milliseconds. */
const busyMs = 5_000;
const lookEveryMs = 200;

const unclaimed: LeadClaim = { state: 'none', claim: 0, tries: 0 };

const whyUntried: Readonly<Partial<Record<LeadClaim['state'], string>>> = {
  busy: 'a receiver sends it now',
  several: 'it waits for several forwards: which of them has moved is not known',
};

/**
 * Sends leads of one request to the target once, and records the results. A lead that is not taken waits as before. With
 * `isMove`, a lead that waits for no forward is left out.
 */
export async function retryRequest(
  stored: readonly (StoredDelivery & { readonly leadId: string })[],
  { target, inbox, clock, isMove }: RetryOptions,
): Promise<readonly Retried[]> {
  const name = isMove ? undefined : target.name;
  const leadIds = stored.map(({ leadId }) => leadId);
  const claims = await claimFree(leadIds, { inbox, clock, name });
  const sendable: ClaimedDelivery[] = [];
  const unsent: Retried[] = [];
  for (const delivery of stored) {
    const claim = claims.get(delivery.leadId) ?? unclaimed;
    const why = whyUntried[claim.state];
    if (claim.state === 'claimed' || (!isMove && why === undefined)) sendable.push({ delivery, claim });
    else if (why !== undefined) unsent.push(untried(delivery.leadId, why, clock.now()));
  }
  const [first, ...more] = sendable;
  if (first === undefined) return unsent;
  const { ok, answer, durationMs, status } = await sent([first, ...more], target);
  const result = { ok, answer, durationMs, at: clock.now() };
  const kind = isMove ? 'retry' : 'replay';
  await inbox.record(
    sendable.map(({ delivery: { leadId, seq }, claim: { claim, stored: insteadOf } }) => ({
      ...{ leadId, seq, claim, insteadOf, target: target.name },
      outcome: ok ? 'done' : 'untried',
      result: { ...result, kind },
    })),
  );
  const sentLeads = sendable.map(({ delivery: { leadId }, claim: { label } }) => ({
    ...{ ...result, leadId, isTried: true, reached: status !== undefined },
    insteadOf: ok ? label : undefined,
  }));
  return [...sentLeads, ...unsent];
}

/** Claims the leads. One that another process sends is waited for, since its attempt ends soon as a rule. */
async function claimFree(
  leadIds: readonly string[],
  { inbox, clock, name }: Pick<RetryOptions, 'inbox' | 'clock'> & { readonly name: string | undefined },
): Promise<ReadonlyMap<string, LeadClaim>> {
  const claims = new Map<string, LeadClaim>();
  for (let waitedMs = 0, unclaimedIds = leadIds; unclaimedIds.length > 0; waitedMs += lookEveryMs) {
    if (waitedMs > 0) await clock.sleep(lookEveryMs);
    for (const [i, claim] of (await inbox.claimLeads(unclaimedIds, name)).entries())
      claims.set(unclaimedIds[i] ?? '', claim);
    unclaimedIds =
      waitedMs < busyMs ? unclaimedIds.filter((leadId) => claims.get(leadId)?.state === 'busy') : [];
  }
  return claims;
}

interface ClaimedDelivery {
  readonly delivery: StoredDelivery & { readonly leadId: string };
  readonly claim: LeadClaim;
}

async function sent(
  leads: readonly [ClaimedDelivery, ...ClaimedDelivery[]],
  target: Target,
): Promise<Pick<TargetResult, 'ok' | 'answer' | 'durationMs' | 'status'>> {
  try {
    const sentLeads = leads.map(({ delivery }) => leadOf(delivery));
    const attempts = leads.map(({ claim: { state, tries } }) => tries + (state === 'done' ? 1 : 0));
    return await target.deliver(asReceived(leads[0].delivery, sentLeads), Math.max(1, ...attempts));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return { ok: false, answer: messageOf(error), durationMs: 0, status: 0 };
  }
}
