import { setMaxListeners } from 'node:events';
import { messageOf } from '../errors.ts';
import { CannotStoreError } from '../inbox/errors.ts';
import type { AttemptRecord, AttemptResult, ClaimedLead, Inbox } from '../inbox/inbox.ts';
import { targetLabel } from '../inbox/target-name.ts';
import { counted } from '../output/terminal/progress.ts';
import { type Clock, slept } from '../time/clock.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import type { Verifier } from '../webhook/scheme.ts';
import { withFreshCredential } from './credentials.ts';
import { forwardsStopped, type ReceiverNote } from './errors.ts';
import type { ForwardAttempt } from './receiver-events.ts';
import { defaultGiveUpMs, retryInMs, TargetHealth } from './target-health.ts';
import type { Target, TargetResult } from './targets/target.ts';

/**
 * `verifier`: its first key signs deliveries that were authentic when they came. `onAttempt` is called for each attempt once it is
 * recorded; the place of the attempt is free when the promise that it may return has resolved. A receiver that ends aborts the
 * signals in their order here: it was asked to stop (a command target may get the same signal of the system, and fail for it), it
 * claims no further leads, and it cuts the attempts that are still under way.
 */
export interface AttemptOptions {
  readonly inbox: Pick<Inbox, 'record' | 'giveUp'>;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly random: () => number;
  readonly note: (note: ReceiverNote) => void;
  readonly onAttempt: (attempt: ForwardAttempt) => Promise<void> | void;
  readonly shutdownRequested: AbortSignal;
  readonly claimingStopped: AbortSignal;
  readonly attemptsAborted: AbortSignal;
}

export type Claim = Omit<ClaimedLead, 'request'>;

/** Leads of one delivery that are sent in one attempt. `checked` names the leads of the claims, in their order. */
export interface ClaimedRequest {
  readonly checked: CheckedDelivery;
  readonly claims: readonly [Claim, ...Claim[]];
}

/** From a failure of the inbox to the next try, in milliseconds. */
export const afterFailureMs = 1_000;

/** From an attempt whose command was ended by the signal that stops this receiver to the next attempt, in milliseconds. */
const afterStopMs = 5_000;

/**
 * Attempts to send leads to one target: each is made, its result is recorded in the inbox, and then it is reported. Leads that
 * became dead are counted until `noteDead` says how many they are.
 */
export class ForwardAttempts {
  readonly health = new TargetHealth();
  readonly #target: Target;
  readonly #options: AttemptOptions;
  readonly #label: string;
  #newlyDead = 0;

  constructor(target: Target, options: AttemptOptions) {
    this.#target = target;
    this.#options = options;
    this.#label = targetLabel(target.name);
    // Every record that the inbox does not take waits for this signal.
    setMaxListeners(0, options.attemptsAborted);
  }

  async send({ checked, claims }: ClaimedRequest): Promise<void> {
    const { clock, random } = this.#options;
    const [{ leadId }] = claims;
    const result = await this.#deliver(checked, claims);
    if (!this.#isCutByShutdown(result)) this.health.record(leadId, result, clock.steady(), random());
    await this.#endClaims(claims, result);
  }

  /** Ends claims without an attempt: the leads are due as before. */
  returnClaims(claims: readonly Claim[]): Promise<void> {
    return this.#endClaims(claims, undefined);
  }

  /** Ends the claim of a lead that cannot be read, as a failed attempt. */
  failUnsent(claim: Claim, answer: string): Promise<void> {
    return this.#endClaims([claim], failed(this.#target, answer));
  }

  noteDead(): void {
    const leads = this.#newlyDead;
    if (leads === 0) return;
    this.#newlyDead = 0;
    const message =
      `${counted(leads, 'lead is', 'leads are')} dead for ${this.#label}, which did not take ` +
      `${leads === 1 ? 'it' : 'them'}: kept, and tried again after 'leads inbox retry --pending'`;
    this.#options.note({ kind: 'given-up', message, isWarning: true });
  }

  /** An error that a target or a scheme throws, against its contract, fails this attempt alone. */
  async #deliver(checked: CheckedDelivery, claims: ClaimedRequest['claims']): Promise<TargetResult> {
    const [{ tries }] = claims;
    try {
      return await this.#target.deliver(this.#withCredential(checked, claims), tries);
    } catch (error) {
      return failed(this.#target, messageOf(error));
    }
  }

  /** A lead that the service served over its API, to the key of the operator, is as genuine as one that it pushed. */
  #withCredential(checked: CheckedDelivery, [{ seq }]: ClaimedRequest['claims']): CheckedDelivery {
    const { verifier, clock, note } = this.#options;
    const isGenuine = checked.key >= 0 || (checked.source === 'backfill' && verifier.keys.length > 0);
    if (!isGenuine) return checked;
    const fresh = withFreshCredential(checked, verifier, seq, clock.now());
    if (!fresh.isSigned) {
      const message = `leads are forwarded without a signature: '${verifier.scheme.name}' has no key here that signs`;
      note({ kind: 'forward-unsigned', message });
    }
    return fresh.checked;
  }

  /** A failure that is caused by the end of this receiver says nothing of the target. */
  #isCutByShutdown({ ok, isInterrupted }: TargetResult): boolean {
    const { shutdownRequested, attemptsAborted } = this.#options;
    return !ok && (attemptsAborted.aborted || (isInterrupted === true && shutdownRequested.aborted));
  }

  /** `result` is undefined where nothing was sent. */
  async #endClaims(claims: readonly Claim[], result: TargetResult | undefined): Promise<void> {
    const { clock, note } = this.#options;
    const chance = this.#options.random();
    const endedAt = clock.now();
    const records = claims.map((claim) => ({
      ...claim,
      target: this.#target.name,
      outcome: this.#outcomeOf(claim, result, chance),
      result: result && attemptResult(result, claim.tries, endedAt),
    }));
    try {
      if (!(await this.#record(records))) return;
      const dead = records.filter(({ outcome }) => outcome === 'dead').length;
      this.#newlyDead += dead;
      if (result !== undefined) await this.#report(records, result, endedAt);
      if (dead > 0 && this.health.isDown) await this.#giveUpOverdue();
    } catch (error) {
      note(forwardsStopped(error));
    }
  }

  async #report(
    records: readonly (Claim & AttemptRecord)[],
    result: TargetResult,
    endedAt: number,
  ): Promise<void> {
    for (const { outcome, leadId, tries } of records) {
      const isWaiting = typeof outcome === 'object' || outcome === 'untried';
      await this.#options.onAttempt({
        at: endedAt,
        leadId,
        target: this.#label,
        attempt: tries,
        result,
        state: isWaiting ? 'waiting' : outcome,
        retryInMs: typeof outcome === 'object' ? outcome.retryInMs : undefined,
      });
    }
  }

  #outcomeOf(
    { tries, since }: Claim,
    result: TargetResult | undefined,
    chance: number,
  ): AttemptRecord['outcome'] {
    if (result === undefined) return 'untried';
    if (result.ok) return 'done';
    if (this.#isCutByShutdown(result)) return { retryInMs: result.isInterrupted === true ? afterStopMs : 0 };
    const { giveUpMs = defaultGiveUpMs } = this.#target;
    const isOver = this.#options.clock.now() - since >= giveUpMs;
    return isOver ? 'dead' : { retryInMs: retryInMs(result, tries, chance) };
  }

  /**
   * Retries until the inbox takes the records: true. The attempt keeps its place, so that no further lead is sent meanwhile. False
   * where attempts were aborted first: the claim ends by itself then, and the lead is sent again.
   */
  async #record(records: readonly AttemptRecord[]): Promise<boolean> {
    const { inbox, clock, attemptsAborted, note } = this.#options;
    for (;;) {
      try {
        await inbox.record(records);
        return true;
      } catch (error) {
        if (!(error instanceof CannotStoreError)) throw error;
        note(forwardsStopped(error));
        if (!(await slept(clock, afterFailureMs, attemptsAborted))) return false;
      }
    }
  }

  /** A target that is down is sent few of the leads that wait for it. The others die here when they have waited too long. */
  async #giveUpOverdue(): Promise<void> {
    const { inbox, claimingStopped } = this.#options;
    const { name, giveUpMs = defaultGiveUpMs } = this.#target;
    while (!claimingStopped.aborted) {
      const leads = await inbox.giveUp(name, giveUpMs);
      if (leads === 0) return;
      this.#newlyDead += leads;
    }
  }
}

/** A failure on this machine: the target was not reached. The name of a target begins with its kind. */
const failed = ({ name }: Target, answer: string): TargetResult => ({
  to: name.split(' ', 1)[0] as TargetResult['to'],
  ok: false,
  answer,
  durationMs: 0,
});

function attemptResult(result: TargetResult, tries: number, endedAt: number): AttemptResult {
  const { ok, answer, durationMs } = result;
  return { ok, answer, durationMs, at: endedAt, kind: tries > 1 ? 'retry' : 'forward' };
}
