import { messageOf } from '../errors.ts';
import type { AttemptRecord, AttemptResult, Inbox, LeadClaim, StoredDelivery } from '../inbox/inbox.ts';
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
  /** Something was sent. */
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
  const claims = await claimFree(
    stored.map(({ leadId }) => leadId),
    { inbox, clock, name: isMove ? undefined : target.name },
  );
  const claimedLeads = stored.map((delivery) => ({
    delivery,
    claim: claims.get(delivery.leadId) ?? unclaimed,
  }));
  const isSent = ({ state }: LeadClaim): boolean =>
    state === 'claimed' || (!isMove && (state === 'none' || state === 'done'));
  const result = await sent(
    claimedLeads.filter(({ claim }) => isSent(claim)),
    target,
  );
  const endedAt = clock.now();
  const records: AttemptRecord[] = [];
  const retried = claimedLeads.flatMap(({ delivery: { leadId, seq }, claim }): Retried[] => {
    const { state, claim: number, stored: insteadOf, label } = claim;
    if (!isSent(claim)) {
      const why = whyUntried[state];
      return why === undefined ? [] : [untried(leadId, why, endedAt)];
    }
    const { ok, answer, durationMs, status } = result;
    records.push({
      ...{ leadId, seq, claim: number, insteadOf, target: target.name },
      outcome: ok ? 'done' : 'untried',
      result: { ok, answer, durationMs, at: endedAt, kind: isMove ? 'retry' : 'replay' },
    });
    const reached = status !== undefined;
    return [
      {
        leadId,
        ok,
        answer,
        durationMs,
        at: endedAt,
        isTried: true,
        reached,
        insteadOf: ok ? label : undefined,
      },
    ];
  });
  if (records.length > 0) await inbox.record(records);
  return retried;
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
  readonly delivery: StoredDelivery;
  readonly claim: LeadClaim;
}

async function sent(
  leads: readonly ClaimedDelivery[],
  target: Target,
): Promise<Pick<TargetResult, 'ok' | 'answer' | 'durationMs' | 'status'>> {
  const [first] = leads;
  const nothing = { ok: false, answer: '', durationMs: 0 };
  if (first === undefined) return nothing;
  try {
    const sentLeads = leads.map(({ delivery }) => leadOf(delivery));
    const attempt = Math.max(
      1,
      ...leads.map(({ claim: { state, tries } }) => tries + (state === 'done' ? 1 : 0)),
    );
    return await target.deliver(asReceived(first.delivery, sentLeads), attempt);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return { ...nothing, answer: messageOf(error), status: 0 };
  }
}
