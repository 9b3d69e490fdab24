import { messageOf } from '../errors.ts';
import type { Arrival, ClaimedLead, Inbox } from '../inbox/inbox.ts';
import { slept } from '../time/clock.ts';
import type { CheckedDelivery, CheckedLead } from '../webhook/check-delivery.ts';
import {
  afterFailureMs,
  type AttemptOptions,
  type Claim,
  type ClaimedRequest,
  ForwardAttempts,
} from './forward-attempts.ts';
import { wasVerified } from './credentials.ts';
import { forwardsStopped, noDeliveryOfLead } from './errors.ts';
import { asReceived, isUnreadable, leadOf, storedRequest } from './stored-request.ts';
import type { Target } from './targets/target.ts';
import { remainingDelivery } from '../inbox/remaining-content.ts';
import type { StoredLead } from './receiver-events.ts';

export interface WorkerOptions extends AttemptOptions {
  readonly inbox: Pick<Inbox, 'claim' | 'record' | 'nextDueIn' | 'giveUp' | 'list'>;
}

/**
 * A claim lasts this much longer than an attempt, in milliseconds: half of it may pass before the attempt begins, and the other
 * half is left to record the result.
 */
const claimMarginMs = 10_000;
const latestBeginMs = claimMarginMs / 2;

export const claimMsFor = (attemptMs: number): number => attemptMs + claimMarginMs;

/** The longest time between two looks into the inbox, in milliseconds: other processes may make leads due. */
const pollMs = 2_000;

/**
 * Sends the leads of the inbox to one target: new ones, which the receiver passes to `send`, and those that wait, which `run`
 * claims as often as they are due and there are free places. A lead is claimed, then sent, then the result is recorded. Where the
 * process ends in between, the claim ends by itself, and the lead is sent again.
 */
export class ForwardWorker {
  readonly target: Target;
  readonly #options: WorkerOptions;
  readonly #attempts: ForwardAttempts;
  /** Attempts that are under way, and reserved places: `concurrency` of the target at most. */
  #occupiedPlaces = 0;
  /** Whether leads in the inbox may be due: new leads are not sent before them. */
  #hasBacklog = true;
  /** A lead whose claim ended may be claimed once more while its attempt is under way: it is not sent twice at the same time. */
  readonly #leadsInFlight = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  #wakeController = new AbortController();

  constructor(target: Target, options: WorkerOptions) {
    this.target = target;
    this.#options = options;
    this.#attempts = new ForwardAttempts(target, options);
  }

  /** Reserves places for so many new leads of one delivery. False: they wait in the inbox, and `wake` is to be called. */
  reserve(leads: number): boolean {
    const { attemptsAborted } = this.#options;
    const places = this.#placesFor(leads);
    const hasPlaces = this.#occupiedPlaces + places <= this.target.concurrency;
    const mustWait = attemptsAborted.aborted || this.#hasBacklog || this.#attempts.health.isDown;
    if (mustWait || !hasPlaces) return false;
    this.#occupiedPlaces += places;
    return true;
  }

  #placesFor(leads: number): number {
    return this.target.isWhole === true ? 1 : leads;
  }

  /**
   * Sends new leads of a delivery for which places were reserved: those of `claims`, each of which was claimed when it was stored.
   * `reserved`: as many leads as `reserve` was called with.
   */
  send(checked: CheckedDelivery, claims: readonly Claim[], reserved: number, claimedAt: number): void {
    const requests = this.#requestsFor(checked, claims);
    const unused = this.#placesFor(reserved) - requests.length;
    if (unused > 0) this.#release(unused);
    for (const request of requests) this.#begin(request, claimedAt);
  }

  /** Tells that a lead is due. Where it cannot be sent yet, the end of a pause or of an attempt wakes `run`. */
  wake(): void {
    this.#hasBacklog = true;
    const isPaused = this.#attempts.health.pausedMs(this.#options.clock.steady()) > 0;
    if (!isPaused && this.#freePlaces > 0) this.#stopWaiting();
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running);
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
      this.#attempts.noteDead();
      if (waitMs > 0) await slept(clock, waitMs, this.#wakeController.signal);
    }
  }

  /** Sends the leads that are due, as many as have a place. Returns how long to wait for the next look, in milliseconds. */
  async #claimDue(): Promise<number> {
    const { inbox, clock } = this.#options;
    const { name } = this.target;
    const pausedMs = this.#attempts.health.pausedMs(clock.steady());
    if (pausedMs > 0) return pausedMs;
    const places = this.#freePlaces;
    if (places <= 0) return pollMs;
    const dueInMs = await inbox.nextDueIn(name);
    if (dueInMs === undefined || dueInMs > 0) {
      const wasWoken = this.#wakeController.signal.aborted;
      if (!wasWoken) this.#hasBacklog = false;
      return Math.min(pollMs, dueInMs ?? pollMs);
    }
    this.#hasBacklog = true;
    const claimedAt = clock.steady();
    const claimed = await inbox.claim(name, places, {
      isWhole: this.target.isWhole,
      isProbe: this.#attempts.health.isDown,
    });
    const requests = new Map<number, ClaimedLead[]>();
    for (const claim of claimed) requests.set(claim.request, [...(requests.get(claim.request) ?? []), claim]);
    for (const claims of requests.values()) await this.#sendStored(claims, claimedAt);
    // Another receiver may have claimed what was due.
    return claimed.length === 0 ? afterFailureMs : 0;
  }

  async #sendStored(claimed: readonly ClaimedLead[], claimedAt: number): Promise<void> {
    const { inbox, verifier } = this.#options;
    const claims = claimed.filter(({ leadId }) => !this.#leadsInFlight.has(leadId));
    const stored = new Map((await storedRequest(inbox, claims)).map((delivery) => [delivery.seq, delivery]));
    const [first] = stored.values();
    const leads: CheckedLead[] = [];
    for (const claim of claims) {
      try {
        const delivery = stored.get(claim.seq);
        if (delivery === undefined) throw noDeliveryOfLead(claim.leadId);
        leads.push(leadOf(delivery));
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        this.#failUnreadable(claim, messageOf(error));
      }
    }
    if (first === undefined) return;
    const key = wasVerified(first.headers, verifier.scheme) ? 0 : -1;
    const requests = this.#requestsFor({ ...asReceived(first, leads), key }, claims);
    this.#occupiedPlaces += requests.length;
    for (const request of requests) this.#begin(request, claimedAt);
  }

  #failUnreadable(claim: Claim, reason: string): void {
    const message = `${reason}; '${claim.leadId}' is not forwarded`;
    this.#options.note({ kind: 'lead-not-sent', message, cause: claim.leadId });
    this.#occupiedPlaces += 1;
    this.#track([claim], this.#attempts.failUnsent(claim, reason));
  }

  #requestsFor(checked: CheckedDelivery, claims: readonly Claim[]): readonly ClaimedRequest[] {
    const byId = new Map(claims.map((claim) => [claim.leadId, claim]));
    const claimed = checked.leads.flatMap((lead) => {
      const claim = byId.get(lead.leadId);
      // A delivery may name one lead twice.
      byId.delete(lead.leadId);
      return claim === undefined ? [] : [{ lead, claim }];
    });
    const groups = this.target.isWhole === true ? [claimed] : claimed.map((pair) => [pair]);
    return groups.flatMap((group): ClaimedRequest[] => {
      const [first, ...more] = group.map(({ claim }) => claim);
      const leads = group.map(({ lead }) => lead);
      return first === undefined ? [] : [{ checked: { ...checked, leads }, claims: [first, ...more] }];
    });
  }

  #begin(request: ClaimedRequest, claimedAt: number): void {
    const { claims } = request;
    const isTooLate = this.#options.clock.steady() - claimedAt > latestBeginMs;
    this.#track(claims, isTooLate ? this.#attempts.returnClaims(claims) : this.#attempts.send(request));
  }

  #track(claims: readonly Claim[], attempt: Promise<void>): void {
    for (const { leadId } of claims) this.#leadsInFlight.add(leadId);
    const running = attempt.finally(() => {
      for (const { leadId } of claims) this.#leadsInFlight.delete(leadId);
      this.#running.delete(running);
      this.#release(1);
    });
    this.#running.add(running);
  }

  #release(places: number): void {
    this.#occupiedPlaces -= places;
    if (this.#hasBacklog) this.#stopWaiting();
  }

  /** A target that is down gets one attempt at a time. */
  get #freePlaces(): number {
    return (this.#attempts.health.isDown ? 1 : this.target.concurrency) - this.#occupiedPlaces;
  }

  #stopWaiting(): void {
    // Without a reason, node would make an exception with its stack for each call.
    this.#wakeController.abort('due');
  }
}

export type DeliveryWorker = Pick<ForwardWorker, 'target' | 'reserve' | 'send' | 'wake'>;

interface TargetLeads {
  readonly worker: DeliveryWorker;
  readonly leads: readonly CheckedLead[];
  readonly isReserved: boolean;
}

/** The forwards of the leads of one delivery, from before they are stored to their first attempts. */
export class DeliveryForwards {
  readonly #checked: CheckedDelivery;
  readonly #claimedAt: number;
  readonly #targets: readonly TargetLeads[];

  /** Reserves places at the workers, which `forwardOrWake` uses or returns. `claimedAt`: now, by the monotonic clock. */
  constructor(checked: CheckedDelivery, workers: readonly DeliveryWorker[], claimedAt: number) {
    this.#checked = checked;
    this.#claimedAt = claimedAt;
    this.#targets = workers.map((worker) => {
      const { takes } = worker.target;
      const leads = takes === undefined ? checked.leads : checked.leads.filter(({ lead }) => takes(lead));
      return { worker, leads, isReserved: leads.length > 0 && worker.reserve(leads.length) };
    });
  }

  /** Names of the targets that a lead goes to, and of those among them that get it at once, so that it is stored as claimed. */
  targetsOf(lead: CheckedLead): Pick<Arrival, 'targets' | 'claimed'> {
    const targets = this.#targets.filter(({ leads }) => leads.includes(lead));
    const claimed = targets.filter(({ isReserved }) => isReserved);
    return { targets: targets.map(nameOf), claimed: claimed.map(nameOf) };
  }

  /** Sends the new leads of those that were stored, or wakes the workers to claim them. Where storing failed, none was stored. */
  forwardOrWake(stored: readonly StoredLead[]): void {
    const claims = new Map<CheckedLead, Claim>();
    for (const { lead, verdict } of stored) {
      const { kind, leadId, seq, firstAt } = verdict;
      // The inbox counted the claim of a new lead as its first, and as its first attempt.
      if (kind === 'accepted') claims.set(lead, { leadId, seq, claim: 1, tries: 1, since: firstAt });
    }
    const checked = withoutErased(this.#checked, stored);
    for (const { worker, leads, isReserved } of this.#targets) {
      const targetClaims = leads.flatMap((lead) => claims.get(lead) ?? []);
      if (isReserved) worker.send(checked, targetClaims, leads.length, this.#claimedAt);
      else if (targetClaims.length > 0) worker.wake();
    }
  }
}

const nameOf = ({ worker }: TargetLeads): string => worker.target.name;

/** The delivery that targets may get: the whole one, unless a lead in it was erased. */
function withoutErased(checked: CheckedDelivery, stored: readonly StoredLead[]): CheckedDelivery {
  if (!stored.some(({ verdict: { isErased } }) => isErased === true)) return checked;
  const leads = stored.filter(({ verdict: { isErased } }) => isErased !== true).map(({ lead }) => lead);
  const places = leads.flatMap(({ place }) => place ?? []);
  return { ...checked, leads, delivery: remainingDelivery(checked.delivery, places) };
}
