import { setMaxListeners } from 'node:events';
import { ConfigError } from '../errors.ts';
import { canForge, type Forgery, forgeryKinds } from '../sender/forge-request.ts';
import type { Attempt, AttemptOutcome, Sender } from '../sender/sender.ts';
import type { OutgoingDelivery, Signer } from '../sender/sign-request.ts';
import { SlotQueue } from '../sender/delivery-run.ts';
import { type Clock, slept } from '../time/clock.ts';
import type { SandboxLead } from './data/lead-set.ts';
import { hashText } from './data/seeded-random.ts';
import type { DeliveryFault, FaultInjector, Faults } from './faults.ts';

export interface TargetQueueOptions {
  /** URL. */
  readonly target: string;
  /** Place among the targets: chance depends on it, and not on the URL with its port. */
  readonly index: number;
  readonly seed: number;
  readonly sender: Sender;
  readonly injector: FaultInjector<DeliveryFault>;
  /** Requests in flight at one time. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly onAttempt: (attempt: RecordedAttempt) => void;
  /** Called once for each lead that was enqueued, unless it was cancelled. */
  readonly onFinished: (lead: SandboxLead, acknowledged: boolean) => void;
}

const defaultDelayMs = 2000;
/** A delivery that is to be overtaken waits this long for another one. */
const overtakenWithinMs = 1000;

/** Everything between two cancellations. */
interface Session {
  readonly stop: AbortController;
  /** Deliveries that are neither acknowledged nor given up. */
  pending: number;
  /** Starts each delivery that waits to be overtaken. */
  readonly overtaken: Set<() => void>;
  /** Id of the delivery that was acknowledged last. */
  usedId: string | undefined;
}

/** Decides when each lead is delivered to one target: in order, unless a fault says otherwise. */
export class TargetQueue {
  readonly #options: TargetQueueOptions;
  readonly #slots: SlotQueue;
  #session = newSession();

  constructor(options: TargetQueueOptions) {
    this.#options = options;
    this.#slots = new SlotQueue(options.concurrency);
  }

  /** Deliveries that are neither acknowledged nor given up. */
  get pending(): number {
    return this.#session.pending;
  }

  enqueue(lead: SandboxLead): void {
    const session = this.#session;
    session.pending += 1;
    this.#slots.enqueue((release) => this.#start(lead, release, session));
  }

  pause(): void {
    this.#slots.pause();
  }

  resume(): void {
    this.#slots.resume();
  }

  /** Forgets what is not acknowledged, and cuts what is in flight. */
  cancel(): void {
    this.#session.stop.abort();
    this.#session = newSession();
    this.#slots.clear();
  }

  /** Draws what happens before the first attempt: the delivery is lost, late, or overtaken. */
  #start(lead: SandboxLead, release: () => void, session: Session): void {
    const { injector, index } = this.#options;
    const drawn = injector.drawFirst(['drop', 'delay', 'reorder'], `${lead.id} ${index}`);
    const faults = drawn === undefined ? [] : [drawn.name];
    if (drawn === undefined) {
      void this.#deliver(lead, faults, release, session);
      return;
    }
    const deliverLater = (): void =>
      this.#slots.enqueue((later) => void this.#deliver(lead, faults, later, session));
    if (drawn.name === 'drop') this.#drop(lead, session);
    else if (drawn.name === 'delay') {
      void this.#after(drawn.fault.amountMs ?? defaultDelayMs, session, deliverLater);
    } else {
      session.overtaken.add(deliverLater);
      void this.#after(drawn.fault.amountMs ?? overtakenWithinMs, session, () => {
        if (session.overtaken.delete(deliverLater)) deliverLater();
      });
    }
    release();
  }

  #drop(lead: SandboxLead, session: Session): void {
    const { clock, onAttempt, onFinished } = this.#options;
    onAttempt(recordDrop(this.#delivery(lead), clock.now()));
    onFinished(lead, false);
    session.pending -= 1;
  }

  /** The first attempt uses the slot that is at hand; each further one waits for a slot of its own. */
  async #deliver(
    lead: SandboxLead,
    faults: readonly DeliveryFault[],
    release: () => void,
    session: Session,
  ): Promise<void> {
    const { sender, injector, index, clock } = this.#options;
    const { signal } = session.stop;
    const delivery = this.#delivery(lead);
    let wasForgeryTaken = false;
    for (let number = 1; ; number += 1) {
      const releaseSlot = number === 1 ? release : await this.#slot();
      const key = `${lead.id} ${index} ${number}`;
      const forgery = wasForgeryTaken ? undefined : drawForgery(injector, key, session.usedId);
      const attempt = await sender.attempt(delivery, number, { forgery, signal });
      if (!signal.aborted) {
        this.#options.onAttempt(recordAttempt(attempt, number === 1 ? faults : []));
        if (!isForgeryTaken(attempt)) this.#finish(lead, attempt, session);
      }
      this.#finishAttempt(releaseSlot, session);
      const { retryInMs } = attempt;
      wasForgeryTaken = isForgeryTaken(attempt);
      // Who takes forgeries has not got the lead: the genuine request follows at once.
      if (wasForgeryTaken && !signal.aborted) continue;
      if (signal.aborted || retryInMs === undefined || !(await slept(clock, retryInMs, signal))) return;
    }
  }

  #finish(lead: SandboxLead, attempt: Attempt, session: Session): void {
    const { injector, index, onFinished } = this.#options;
    const acknowledged = attempt.outcome === 'acknowledged';
    if (!acknowledged && attempt.retryInMs !== undefined) return;
    session.pending -= 1;
    if (acknowledged) session.usedId = attempt.delivery.id;
    onFinished(lead, acknowledged);
    if (!acknowledged || injector.draw('duplicate', `${lead.id} ${index}`) === undefined) return;
    session.pending += 1;
    this.#slots.enqueue((release) => void this.#deliverAgain(attempt, release, session));
  }

  /** A second copy of an acknowledged delivery: its answer changes nothing. */
  async #deliverAgain({ delivery, number }: Attempt, release: () => void, session: Session): Promise<void> {
    const { signal } = session.stop;
    const attempt = await this.#options.sender.attempt(delivery, number + 1, { signal });
    if (!signal.aborted) this.#options.onAttempt(recordAttempt(attempt, ['duplicate']));
    session.pending -= 1;
    this.#finishAttempt(release, session);
  }

  /** Whatever was to be overtaken has been. */
  #finishAttempt(release: () => void, session: Session): void {
    for (const deliverLater of [...session.overtaken]) {
      session.overtaken.delete(deliverLater);
      deliverLater();
    }
    release();
  }

  #slot(): Promise<() => void> {
    return new Promise((resolve) => this.#slots.enqueue(resolve));
  }

  async #after(ms: number, { stop: { signal } }: Session, run: () => void): Promise<void> {
    if ((await slept(this.#options.clock, ms, signal)) && !signal.aborted) run();
  }

  #delivery(lead: SandboxLead): OutgoingDelivery {
    const { target, index, seed } = this.#options;
    return { id: deliveryId(seed, index, lead.id), leadId: lead.id, target, body: lead.text() };
  }
}

const isForgeryTaken = ({ forgery, outcome }: Attempt): boolean =>
  forgery !== undefined && outcome === 'acknowledged';

function newSession(): Session {
  const stop = new AbortController();
  // Every delivery that waits listens to it.
  setMaxListeners(0, stop.signal);
  return { stop, pending: 0, overtaken: new Set(), usedId: undefined };
}

/** One attempt to deliver a lead: what really happened, whatever the receiver says. */
export interface RecordedAttempt {
  /** The same for every attempt, and the delivery id of schemes that send one. */
  readonly deliveryId: string;
  readonly leadId: string;
  /** URL. */
  readonly target: string;
  /** From 1. */
  readonly attempt: number;
  /** When it was sent, ISO 8601. */
  readonly at: string;
  /** Acknowledged is HTTP 200 alone; a dropped one was never sent. */
  readonly outcome: AttemptOutcome | 'dropped';
  readonly durationMs: number;
  /** Of the answer, when there was one. */
  readonly status?: number;
  /** Why there was none: `timeout`, or a code such as `ECONNREFUSED`. */
  readonly error?: string;
  /** What was made to go wrong with it. */
  readonly faults: readonly DeliveryFault[];
  /** Whether a receiver that verifies must refuse it. */
  readonly forged: boolean;
}

/** A delivery that is lost before its first attempt: it is recorded, and never sent. `at` in milliseconds. */
const recordDrop = (delivery: OutgoingDelivery, at: number): RecordedAttempt => ({
  deliveryId: delivery.id,
  leadId: delivery.leadId,
  target: delivery.target,
  attempt: 1,
  at: new Date(at).toISOString(),
  outcome: 'dropped',
  durationMs: 0,
  faults: ['drop'],
  forged: false,
});

/** `faults`: what happened to the delivery since the attempt before, besides a forgery. */
function recordAttempt(attempt: Attempt, faults: readonly DeliveryFault[]): RecordedAttempt {
  const { delivery, number, sentAt, outcome, result, forgery } = attempt;
  return {
    deliveryId: delivery.id,
    leadId: delivery.leadId,
    target: delivery.target,
    attempt: number,
    at: new Date(sentAt).toISOString(),
    outcome,
    durationMs: result.durationMs,
    ...(result.ok ? { status: result.status } : { error: result.code }),
    faults: forgery === undefined ? faults : [...faults, forgery.kind],
    forged: forgery !== undefined,
  };
}

/** How the attempt that `key` names is forged, if at all. Before something was acknowledged no id can be reused. */
function drawForgery(
  injector: FaultInjector<DeliveryFault>,
  key: string,
  usedId: string | undefined,
): Forgery | undefined {
  const possible = forgeryKinds.filter((kind) => kind !== 'reusedNonce' || usedId !== undefined);
  const kind = injector.drawFirst(possible, key)?.name;
  if (kind !== 'reusedNonce') return kind && { kind };
  return usedId === undefined ? undefined : { kind, usedId };
}

/**
 * Throws a `ConfigError` for a forgery that this scheme cannot show: a receiver would be right to accept what the
 * record of attempts calls forged.
 */
export function rejectImpossibleForgeries(signer: Signer, faults: Faults<DeliveryFault>): void {
  const impossible = forgeryKinds.find((kind) => faults[kind] !== undefined && !canForge(signer, kind));
  if (impossible === undefined) return;
  throw new ConfigError(`the scheme '${signer.scheme.name}' cannot show the fault ${impossible}`, {
    hint: (front) =>
      `it does not sign what that fault forges; use another ${front.option('scheme')}, or leave the fault out`,
  });
}

/** The same for the same seed, lead and place among the targets. */
function deliveryId(seed: number, targetIndex: number, leadId: string): string {
  const half = (salt: string): string =>
    hashText(`${salt} ${targetIndex} ${leadId}`, seed).toString(32).padStart(7, '0');
  return `msg_${half('a')}${half('b')}`;
}
