import type { Inbox, Source } from '../inbox/inbox.ts';
import type { Messages } from '../output/messages.ts';
import type { Clock } from '../time/clock.ts';
import { type CheckedDelivery, checkHead, type Policy } from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { DeliveryAnswer, Rejection } from '../webhook/rejection.ts';
import { DeliveryAnswerer, DeliveryHandler, DeliveryStore } from './delivery-handler.ts';
import { Dispatcher, type PendingLead } from './dispatcher.ts';
import type { ExplainRejection } from './explain-rejection.ts';
import type { HostGuard } from './host-guard.ts';
import { deliveryRedactor } from './inbox-requirements.ts';
import {
  type AnsweredDelivery,
  EventStream,
  type ReceiverObserver,
  type Subscribable,
} from './receiver-events.ts';
import type { SimulatedFailures } from './simulated-failures.ts';
import type { Target } from './targets/target.ts';

export interface ReceiverOptions {
  /** Who may deliver, and at which path. */
  readonly policy: Policy;
  /** Asked first of each delivery; default: any host is taken. */
  readonly hostGuard?: HostGuard | undefined;
  /** Opened with the options that `inboxRequirements` gives for the same policy and targets. */
  readonly inbox: Pick<Inbox, 'take' | 'reject' | 'settle' | 'release'>;
  /** What each new lead is delivered to before its delivery is acknowledged, in this order. Default: nothing. */
  readonly targets?: readonly Target[] | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly messages: Pick<Messages, 'note'>;
  /** Failures on purpose, for tests of a sender. */
  readonly failures?: SimulatedFailures | undefined;
  /** Says what a rejected credential would have matched. */
  readonly explain?: ExplainRejection | undefined;
  readonly observer?: ReceiverObserver | undefined;
}

/** Takes deliveries from any source: it knows nothing of sockets. */
export interface Receiver {
  /** What can be rejected before the body is complete. */
  checkHead(head: Delivery): Rejection | undefined;
  /** Takes one delivery through the contract's order of work, to its answer. */
  handle(delivery: Delivery): Promise<DeliveryAnswer>;
  /** The same for a delivery that needs no check, such as a lead that was pulled from the service. */
  handleChecked(checked: CheckedDelivery, source: Source): Promise<DeliveryAnswer>;
  /** The same for leads that the inbox holds already, with the leases on the targets that have not had them. */
  handleLeased(
    checked: CheckedDelivery,
    leads: readonly PendingLead[],
    source: Source,
  ): Promise<DeliveryAnswer>;
  /** Whether a lead is on its way to a target now. */
  isDispatching(leadId: string): boolean;
  /** Keeps, and emits, a request that was rejected before it became a delivery. */
  handleRejected(delivery: Delivery, rejection: Rejection): Promise<DeliveryAnswer>;
  /**
   * One event for each lead of a delivery, and for each rejected delivery, when its answer is known. A delivery is answered only when the listeners have room. A
   * listener that throws fails the delivery, so that its sender sends it again.
   */
  readonly events: Subscribable<AnsweredDelivery>;
  /** Resolves when no delivery is in flight. */
  idle(): Promise<void>;
}

/** Puts the steps of a delivery together. Inbox and targets stay the caller's to close. */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { policy, hostGuard, inbox, targets = [], clock, messages, failures, explain, observer } = options;
  const events = new EventStream<AnsweredDelivery>();
  const inFlight = new InFlightCount();
  const dispatcher = new Dispatcher(inbox, targets, clock);
  const handler = new DeliveryHandler({
    policy,
    hostGuard,
    clock,
    messages,
    store: new DeliveryStore({ inbox, policy, messages, observer }),
    dispatcher,
    answerer: new DeliveryAnswerer({ clock, events, redactPath: deliveryRedactor(policy).path, failures }),
    failures,
    explain,
  });
  /** `timing` is there for what came from outside only. */
  const counted = async (
    work: () => Promise<DeliveryAnswer>,
    timing?: ReceiverObserver,
  ): Promise<DeliveryAnswer> => {
    const startedAt = timing?.now() ?? 0;
    inFlight.start();
    try {
      return await work();
    } finally {
      inFlight.end();
      timing?.answered(timing.now() - startedAt);
    }
  };
  return {
    checkHead: (head) => hostGuard?.(head) ?? checkHead(head, policy),
    handle: (delivery) => counted(() => handler.handle(delivery), observer),
    handleChecked: (checked, source) => counted(() => handler.handleChecked(checked, source)),
    handleLeased: (checked, leads, source) => counted(() => handler.handleLeased(checked, leads, source)),
    handleRejected: (delivery, rejection) =>
      counted(() => handler.handleRejected(delivery, rejection), observer),
    isDispatching: (leadId) => dispatcher.isDispatching(leadId),
    events,
    idle: () => inFlight.idle(),
  };
}

/** How many pieces of work are in flight. */
export class InFlightCount {
  #count = 0;
  #waiting: (() => void)[] = [];

  start(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }
}
