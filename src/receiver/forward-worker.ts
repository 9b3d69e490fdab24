import { setMaxListeners } from 'node:events';
import { messageOf } from '../errors.ts';
import { CannotStoreError } from '../inbox/errors.ts';
import type { AttemptRecord, AttemptResult, ClaimedLead, Inbox } from '../inbox/inbox.ts';
import { targetLabel } from '../inbox/target-name.ts';
import { counted } from '../output/terminal/progress.ts';
import { type Clock, slept } from '../time/clock.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import type { Verifier } from '../webhook/scheme.ts';
import { wasVerified, withFreshCredential } from './forward-credential.ts';
import { forwardsStopped, noDeliveryOfLead, type ReceiverNote } from './errors.ts';
import type { ForwardAttempt } from './receiver-events.ts';
import { asReceived, isUnreadable, leadOf, storedRequest } from './stored-request.ts';
import { defaultGiveUpMs, retryInMs, TargetHealth } from './target-health.ts';
import type { Target, TargetResult } from './targets/target.ts';

export interface WorkerOptions {
  readonly inbox: Pick<Inbox, 'claim' | 'record' | 'nextDueIn' | 'giveUp' | 'list'>;
  /** Its first key signs what was authentic when it came. */
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly random: () => number;
  readonly note: (note: ReceiverNote) => void;
  /** Told of each attempt once it is recorded. The next one waits while a promise of it is pending. */
  readonly onAttempt: (attempt: ForwardAttempt) => Promise<void> | void;
  /** Aborts when the process was asked to stop. A command target may receive the same signal, and fail for it. */
  readonly shutdownRequested: AbortSignal;
  readonly claimingStopped: AbortSignal;
  readonly attemptsAborted: AbortSignal;
}

/** How much longer a claim lasts than an attempt, in milliseconds. */
const claimMarginMs = 10_000;

export const claimMsFor = (attemptMs: number): number => attemptMs + claimMarginMs;

/** An attempt that begins later after its claim, in milliseconds, might outlive the claim. */
const latestBeginMs = claimMarginMs / 2;

/** Other processes may make leads due: so often the inbox is asked at least, in milliseconds. */
const pollMs = 2_000;

/** From a failure of the inbox to the next try, in milliseconds. */
const afterFailureMs = 1_000;

/** How long a lead waits whose command was ended while this receiver stops, in milliseconds. */
const afterStopMs = 5_000;

export type Claim = Omit<ClaimedLead, 'request'>;

/** Leads of one delivery that are sent in one attempt. `checked` names the leads of the claims, in their order. */
interface ClaimedRequest {
  readonly checked: CheckedDelivery;
  readonly claims: readonly [Claim, ...Claim[]];
}

/**
 * Sends the leads of the inbox to one target: new ones, which the receiver gives it from memory, and those that wait. A lead is
 * claimed, then sent, then the result is recorded. Where the process ends in between, the claim ends by itself, and the
 * lead is sent again.
 */
export class ForwardWorker {
  readonly target: Target;
  readonly #options: WorkerOptions;
  readonly #label: string;
  readonly #health = new TargetHealth();
  /** Attempts that are under way or have a place. */
  #occupiedPlaces = 0;
  /** Due leads wait for a place: new leads are not sent before them. */
  #hasBacklog = true;
  /** Ids of leads on their way: one whose claim ended must not be sent twice at the same time. */
  readonly #leadsInFlight = new Set<string>();
  readonly #attempts = new Set<Promise<void>>();
  #wakeController = new AbortController();
  #givenUp = 0;

  constructor(target: Target, options: WorkerOptions) {
    this.target = target;
    this.#options = options;
    this.#label = targetLabel(target.name);
    // Every record that the inbox does not take waits for this signal.
    setMaxListeners(0, options.attemptsAborted);
  }

  /** Keeps places for so many new leads of one delivery. False: they wait in the inbox, and `wake` is to be called. */
  reserve(leads: number): boolean {
    const places = this.target.isWhole === true ? 1 : leads;
    const isFree = this.#occupiedPlaces + places <= this.target.concurrency;
    if (this.#options.attemptsAborted.aborted || this.#hasBacklog || this.#health.isDown || !isFree)
      return false;
    this.#occupiedPlaces += places;
    return true;
  }

  /**
   * Sends new leads of a delivery for which places were kept: those of `claims`, each of which was claimed when it was stored.
   * `reserved`: as many leads as `reserve` was called with.
   */
  send(checked: CheckedDelivery, claims: readonly Claim[], reserved: number, claimedAt: number): void {
    const requests = this.#requests(checked, claims);
    const unused = (this.target.isWhole === true ? 1 : reserved) - requests.length;
    if (unused > 0) this.#release(unused);
    for (const request of requests) this.#track(this.#attempt(request, claimedAt));
  }

  /** A lead is due that no attempt sends now. The end of a pause or of an attempt finds it where it cannot be sent yet. */
  wake(): void {
    this.#hasBacklog = true;
    const isPaused = this.#health.pausedMs(this.#options.clock.steady()) > 0;
    if (!isPaused && this.#freePlaces > 0) this.#stopWaiting();
  }

  async idle(): Promise<void> {
    await Promise.all(this.#attempts);
  }

  async run(): Promise<void> {
    const { clock, claimingStopped, note } = this.#options;
    claimingStopped.addEventListener('abort', () => this.#stopWaiting(), { once: true });
    while (!claimingStopped.aborted) {
      this.#wakeController = new AbortController();
      let waitMs = afterFailureMs;
      try {
        waitMs = await this.#claimDue();
      } catch (error) {
        note(forwardsStopped(error));
      }
      this.#sayGivenUp();
      if (waitMs > 0) await slept(clock, waitMs, this.#wakeController.signal);
    }
  }

  async #claimDue(): Promise<number> {
    const { inbox, clock } = this.#options;
    const { name } = this.target;
    const pausedMs = this.#health.pausedMs(clock.steady());
    if (pausedMs > 0) return pausedMs;
    const places = this.#freePlaces;
    if (places <= 0) return pollMs;
    const dueInMs = await inbox.nextDueIn(name);
    if (dueInMs === undefined || dueInMs > 0) {
      if (!this.#wakeController.signal.aborted) this.#hasBacklog = false;
      return Math.min(pollMs, dueInMs ?? pollMs);
    }
    this.#hasBacklog = true;
    const claimedAt = clock.steady();
    const claimed = await inbox.claim(name, places, {
      isWhole: this.target.isWhole,
      isProbe: this.#health.isDown,
    });
    const requests = new Map<number, ClaimedLead[]>();
    for (const claim of claimed) requests.set(claim.request, [...(requests.get(claim.request) ?? []), claim]);
    for (const claims of requests.values()) await this.#sendStored(claims, claimedAt);
    // Another receiver may have claimed what was due.
    return claimed.length === 0 ? afterFailureMs : 0;
  }

  async #sendStored(claimed: readonly ClaimedLead[], claimedAt: number): Promise<void> {
    const { inbox, verifier, note } = this.#options;
    const claims = claimed.filter(({ leadId }) => !this.#leadsInFlight.has(leadId));
    const stored = new Map((await storedRequest(inbox, claims)).map((delivery) => [delivery.seq, delivery]));
    const [first] = stored.values();
    const leads = claims.flatMap((claim) => {
      try {
        const delivery = stored.get(claim.seq);
        if (delivery === undefined) throw noDeliveryOfLead(claim.leadId);
        return [leadOf(delivery)];
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        const answer = messageOf(error);
        const message = `${answer}; '${claim.leadId}' is not forwarded`;
        note({ kind: 'lead-not-sent', message, cause: claim.leadId });
        this.#occupiedPlaces += 1;
        this.#track(this.#end([claim], failed(this.target, answer)));
        return [];
      }
    });
    if (first === undefined) return;
    const key = wasVerified(first.headers, verifier.scheme) ? 0 : -1;
    const requests = this.#requests({ ...asReceived(first, leads), key }, claims);
    this.#occupiedPlaces += requests.length;
    for (const request of requests) this.#track(this.#attempt(request, claimedAt));
  }

  #requests(checked: CheckedDelivery, claims: readonly Claim[]): readonly ClaimedRequest[] {
    const byId = new Map(claims.map((claim) => [claim.leadId, claim]));
    const claimed = checked.leads.flatMap((lead) => {
      const claim = byId.get(lead.leadId);
      // A delivery may name one lead twice.
      byId.delete(lead.leadId);
      return claim === undefined ? [] : [{ lead, claim }];
    });
    const groups = this.target.isWhole === true ? [claimed] : claimed.map((single) => [single]);
    return groups.flatMap((group): ClaimedRequest[] => {
      const [first, ...more] = group.map(({ claim }) => claim);
      const leads = group.map(({ lead }) => lead);
      return first === undefined ? [] : [{ checked: { ...checked, leads }, claims: [first, ...more] }];
    });
  }

  async #attempt({ checked, claims }: ClaimedRequest, claimedAt: number): Promise<void> {
    const { clock, random } = this.#options;
    const [{ leadId }] = claims;
    for (const claim of claims) this.#leadsInFlight.add(claim.leadId);
    if (clock.steady() - claimedAt > latestBeginMs) {
      await this.#end(claims, undefined);
      return;
    }
    const result = await this.#deliver(checked, claims);
    if (!this.#isCut(result)) this.#health.ended(leadId, result, clock.steady(), random());
    await this.#end(claims, result);
  }

  #track(attempt: Promise<void>): void {
    this.#attempts.add(attempt);
    void attempt.finally(() => this.#attempts.delete(attempt));
  }

  /** An error that a target or a scheme throws, against its contract, fails this attempt alone. */
  async #deliver(checked: CheckedDelivery, claims: ClaimedRequest['claims']): Promise<TargetResult> {
    const [{ tries }] = claims;
    try {
      return await this.target.deliver(this.#signed(checked, claims), tries);
    } catch (error) {
      return failed(this.target, messageOf(error));
    }
  }

  /** A lead that the service served over its API, to the key of the operator, is as genuine as one that it pushed. */
  #signed(checked: CheckedDelivery, [{ seq }]: ClaimedRequest['claims']): CheckedDelivery {
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

  /** A failure that the end of this receiver made says nothing of the target. */
  #isCut({ ok, isInterrupted }: TargetResult): boolean {
    const { shutdownRequested, attemptsAborted } = this.#options;
    return !ok && (attemptsAborted.aborted || (isInterrupted === true && shutdownRequested.aborted));
  }

  async #end(claims: readonly Claim[], result: TargetResult | undefined): Promise<void> {
    const { clock, note, onAttempt } = this.#options;
    const chance = this.#options.random();
    const endedAt = clock.now();
    const records = claims.map((claim) => ({
      ...claim,
      target: this.target.name,
      outcome: this.#outcomeOf(claim, result, chance),
      result: result && attemptResult(result, claim.tries, endedAt),
    }));
    try {
      const isRecorded = await this.#record(records);
      const isDead = isRecorded && records.some(({ outcome }) => outcome === 'dead');
      if (isDead && this.#health.isDown) await this.#giveUpOverdue();
      for (const { outcome, leadId, tries } of isRecorded ? records : []) {
        if (outcome === 'dead') this.#givenUp += 1;
        if (result === undefined) continue;
        const isWaiting = typeof outcome === 'object' || outcome === 'untried';
        await onAttempt({
          ...{ at: endedAt, leadId, target: this.#label, attempt: tries, result },
          state: isWaiting ? 'waiting' : outcome,
          retryInMs: typeof outcome === 'object' ? outcome.retryInMs : undefined,
        });
      }
    } catch (error) {
      note(forwardsStopped(error));
    } finally {
      for (const { leadId } of claims) this.#leadsInFlight.delete(leadId);
      this.#release(1);
    }
  }

  #outcomeOf(
    { tries, since }: Claim,
    result: TargetResult | undefined,
    chance: number,
  ): AttemptRecord['outcome'] {
    if (result === undefined) return 'untried';
    if (result.ok) return 'done';
    if (this.#isCut(result)) return { retryInMs: result.isInterrupted === true ? afterStopMs : 0 };
    const { giveUpMs = defaultGiveUpMs } = this.target;
    const isOver = this.#options.clock.now() - since >= giveUpMs;
    return isOver ? 'dead' : { retryInMs: retryInMs(result, tries, chance) };
  }

  /** Tries until the inbox has it: the place stays taken, so that no further lead is sent whose result is not recorded. */
  async #record(records: readonly AttemptRecord[]): Promise<boolean> {
    const { inbox, clock, attemptsAborted, note } = this.#options;
    for (;;) {
      try {
        await inbox.record(records);
        return true;
      } catch (error) {
        if (!(error instanceof CannotStoreError)) throw error;
        note(forwardsStopped(error));
        // The claim ends by itself then, and the lead is sent again.
        if (!(await slept(clock, afterFailureMs, attemptsAborted))) return false;
      }
    }
  }

  /** More leads wait for a target that is down than are tried: all that have waited too long are given up. */
  async #giveUpOverdue(): Promise<void> {
    const { inbox, claimingStopped } = this.#options;
    const { name, giveUpMs = defaultGiveUpMs } = this.target;
    for (let leads = 1; leads > 0 && !claimingStopped.aborted;) {
      leads = await inbox.giveUp(name, giveUpMs);
      this.#givenUp += leads;
    }
  }

  #sayGivenUp(): void {
    const leads = this.#givenUp;
    if (leads === 0) return;
    this.#givenUp = 0;
    const message =
      `${counted(leads, 'lead is', 'leads are')} dead for ${this.#label}, which did not take ` +
      `${leads === 1 ? 'it' : 'them'}: kept, and tried again after 'leads inbox retry --pending'`;
    this.#options.note({ kind: 'given-up', message, isWarning: true });
  }

  #release(places: number): void {
    this.#occupiedPlaces -= places;
    if (this.#hasBacklog) this.#stopWaiting();
  }

  /** A target that is down gets one attempt at a time. */
  get #freePlaces(): number {
    return (this.#health.isDown ? 1 : this.target.concurrency) - this.#occupiedPlaces;
  }

  /** Without a reason, node would make an exception with its stack for each call. */
  #stopWaiting(): void {
    this.#wakeController.abort('due');
  }
}

/** An attempt that came to nothing here. */
const failed = ({ name }: Target, answer: string): TargetResult => ({
  ...{ to: name.split(' ', 1)[0] as TargetResult['to'], ok: false, answer, durationMs: 0 },
});

const attemptResult = (
  { ok, answer, durationMs }: TargetResult,
  tries: number,
  endedAt: number,
): AttemptResult => ({
  ...{ ok, answer, durationMs, at: endedAt, kind: tries > 1 ? 'retry' : 'forward' },
});
