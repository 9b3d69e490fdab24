import { setMaxListeners } from 'node:events';
import type { Attempt } from '../../sender/attempt.ts';
import type { OutgoingDelivery } from '../../sender/outgoing-delivery.ts';
import type { Sender } from '../../sender/sender.ts';
import type { Clock } from '../../time/clock.ts';
import type { SandboxLead } from '../data/lead-set.ts';
import type { FaultInjector } from '../fault-injector.ts';
import type { DeliveryFault } from '../faults.ts';
import { deliveryId } from './delivery-id.ts';
import { drawForgery } from './draw-forgery.ts';
import { type RecordedAttempt, recordAttempt, recordDrop } from './recorded-attempt.ts';
import { SlotQueue } from '../../sender/slot-queue.ts';

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
  readonly onSettled: (lead: SandboxLead, acknowledged: boolean) => void;
}

const defaultDelayMs = 2000;
/** A delivery that is to be overtaken waits this long for another one. */
const overtakenWithinMs = 1000;

/** Everything between two cancellations. */
interface Session {
  readonly stop: AbortController;
  /** Deliveries that are not settled. */
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

  /** Deliveries that are not settled. */
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

  /** Forgets what is not settled, and cuts what is in flight. */
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
    const { clock, onAttempt, onSettled } = this.#options;
    onAttempt(recordDrop(this.#delivery(lead), clock.now()));
    onSettled(lead, false);
    session.pending -= 1;
  }

  /** The first attempt uses the slot that is at hand; each further one waits for a slot of its own. */
  async #deliver(
    lead: SandboxLead,
    faults: readonly DeliveryFault[],
    release: () => void,
    session: Session,
  ): Promise<void> {
    const { sender, injector, index } = this.#options;
    const key = `${lead.id} ${index}`;
    const attempts = sender.deliver(this.#delivery(lead), {
      signal: session.stop.signal,
      acquire: async (number) => {
        const releaseSlot = number === 1 ? release : await this.#slot();
        return () => this.#finishAttempt(releaseSlot, session);
      },
      forge: (number) => drawForgery(injector, `${key} ${number}`, session.usedId),
    });
    for await (const attempt of attempts) {
      this.#options.onAttempt(recordAttempt(attempt, attempt.number === 1 ? faults : []));
      this.#settle(lead, attempt, session);
    }
  }

  #settle(lead: SandboxLead, attempt: Attempt, session: Session): void {
    const { injector, index, onSettled } = this.#options;
    const acknowledged = attempt.outcome === 'acknowledged';
    if (!acknowledged && attempt.retryInMs !== undefined) return;
    session.pending -= 1;
    if (acknowledged) session.usedId = attempt.delivery.id;
    onSettled(lead, acknowledged);
    if (!acknowledged || injector.draw('duplicate', `${lead.id} ${index}`) === undefined) return;
    session.pending += 1;
    this.#slots.enqueue((release) => void this.#deliverAgain(attempt, release, session));
  }

  /** A second copy of an acknowledged delivery: its answer settles nothing. */
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
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch {
      // Cancelled.
    }
    if (!signal.aborted) run();
  }

  #delivery(lead: SandboxLead): OutgoingDelivery {
    const { target, index, seed } = this.#options;
    return { id: deliveryId(seed, index, lead.id), leadId: lead.id, target, body: lead.text() };
  }
}

function newSession(): Session {
  const stop = new AbortController();
  // Every delivery that waits listens to it.
  setMaxListeners(0, stop.signal);
  return { stop, pending: 0, overtaken: new Set(), usedId: undefined };
}
