import { messageOf } from '../errors.ts';
import type { AttemptResult, Inbox, LeadClaim, StoredDelivery } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import { asReceived, isUnreadable, leadOf } from './stored-request.ts';
import type { Target, TargetResult } from './targets/target.ts';

/**
 * With `isMove` the target is the new address of an app: a lead that it takes does not wait for the app's former address any more.
 * Without, it is the target itself that the lead may wait for.
 */
interface RetryOptions {
  readonly target: Target;
  readonly inbox: Pick<Inbox, 'claimLeads' | 'record'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly isMove: boolean;
}

/**
 * The result of sending one stored lead that a person asked for. `reached` is false where the target could not be reached, or did
 * not answer. `insteadOf`: the label of the target for which the lead does not wait any more.
 */
export interface Retried extends Omit<AttemptResult, 'kind'> {
  readonly leadId: string;
  readonly isTried: boolean;
  readonly reached: boolean;
  readonly insteadOf: string | undefined;
}

/** The result for a lead that was not sent. `endedAt` in milliseconds since the epoch. */
export function untried(leadId: string, answer: string, endedAt: number): Retried {
  const nothingSent = { ok: false, durationMs: 0, isTried: false, reached: true, insteadOf: undefined };
  return { ...nothingSent, leadId, answer, at: endedAt };
}

/** For a lead that another process sends: how long its attempt is waited for, and how often it is looked for; in milliseconds. */
const longestBusyMs = 5_000;
const lookEveryMs = 200;

const unclaimed: LeadClaim = { state: 'none', claim: 0, tries: 0 };

const obstacles: Readonly<Partial<Record<LeadClaim['state'], string>>> = {
  busy: 'a receiver sends it now',
  several: 'it waits for several forwards: which of them has moved is not known',
};

/**
 * Sends leads of one request to the target once, and records the results. A lead that is not taken waits as before. One that the
 * target has already taken, or that never waited for it, is sent as well; with `isMove` it is left out.
 */
export async function retryRequest(
  stored: readonly ClaimedDelivery['delivery'][],
  { target, inbox, clock, isMove }: RetryOptions,
): Promise<readonly Retried[]> {
  const leadIds = stored.map(({ leadId }) => leadId);
  const claims = await claimFree(leadIds, { inbox, clock, target: isMove ? undefined : target.name });
  const claimed = stored.map((delivery) => ({ delivery, claim: claims.get(delivery.leadId) ?? unclaimed }));
  const unsent = claimed.flatMap(({ delivery: { leadId }, claim: { state } }) => {
    const obstacle = obstacles[state];
    return obstacle === undefined ? [] : [untried(leadId, obstacle, clock.now())];
  });
  const [first, ...more] = claimed.filter(
    ({ claim: { state } }) => state === 'claimed' || (!isMove && obstacles[state] === undefined),
  );
  if (first === undefined) return unsent;
  const sendable = [first, ...more] as const;
  const { reached, ...sentOnce } = await sendOnce(sendable, target);
  const result = { ...sentOnce, at: clock.now() };
  const { ok } = result;
  await inbox.record(
    sendable.map(({ delivery: { leadId, seq }, claim: { claim, stored: insteadOf } }) => ({
      ...{ leadId, seq, claim, insteadOf, target: target.name },
      outcome: ok ? 'done' : 'untried',
      result: { ...result, kind: isMove ? 'retry' : 'replay' },
    })),
  );
  const sent = sendable.map(({ delivery: { leadId }, claim: { label } }) => {
    return { ...result, leadId, isTried: true, reached, insteadOf: ok ? label : undefined };
  });
  return [...sent, ...unsent];
}

/**
 * Claims the leads for a target, or without one each for the target that it waits for. A lead that another process sends is waited
 * for, since its attempt ends soon as a rule.
 */
async function claimFree(
  leadIds: readonly string[],
  { inbox, clock, target }: Pick<RetryOptions, 'inbox' | 'clock'> & { readonly target: string | undefined },
): Promise<ReadonlyMap<string, LeadClaim>> {
  const claims = new Map<string, LeadClaim>();
  let busyIds = leadIds;
  for (let waitedMs = 0; busyIds.length > 0 && waitedMs <= longestBusyMs; waitedMs += lookEveryMs) {
    if (waitedMs > 0) await clock.sleep(lookEveryMs);
    const latestClaims = await inbox.claimLeads(busyIds, target);
    for (const [i, leadId] of busyIds.entries()) claims.set(leadId, latestClaims[i] ?? unclaimed);
    busyIds = busyIds.filter((leadId) => claims.get(leadId)?.state === 'busy');
  }
  return claims;
}

interface ClaimedDelivery {
  readonly delivery: StoredDelivery & { readonly leadId: string };
  readonly claim: LeadClaim;
}

/** A lead that cannot be read is a failure of its own, and no sign that the target could not be reached. */
async function sendOnce(
  deliveries: readonly [ClaimedDelivery, ...ClaimedDelivery[]],
  target: Target,
): Promise<Pick<TargetResult, 'ok' | 'answer' | 'durationMs'> & Pick<Retried, 'reached'>> {
  try {
    const leads = deliveries.map(({ delivery }) => leadOf(delivery));
    // A claim counts its attempt; a lead that is done was not claimed.
    const attempts = deliveries.map(({ claim: { state, tries } }) => tries + (state === 'done' ? 1 : 0));
    const checked = asReceived(deliveries[0].delivery, leads);
    const { ok, answer, durationMs, status } = await target.deliver(checked, Math.max(1, ...attempts));
    return { ok, answer, durationMs, reached: status !== undefined };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return { ok: false, answer: messageOf(error), durationMs: 0, reached: true };
  }
}
