import type { Inbox, Source } from '../inbox/inbox.ts';
import type { Clock } from '../time/clock.ts';
import type { CheckedDelivery, OtherEvents, Policy } from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { DeliveryAnswer, Rejection } from '../webhook/delivery-answer.ts';
import type { ForwardWorker } from './forward-worker.ts';
import type { HostGuard } from './host-guard.ts';
import type { ReceiverNote } from './problems.ts';
import type { AnsweredDelivery, ReceiverObserver, Subscribable } from './receiver-events.ts';

export interface ReceiverOptions {
  /** Who may deliver, and at which path. */
  readonly policy: Policy;
  /** Default: what is no lead is rejected. */
  readonly otherEvents?: OtherEvents | undefined;
  /** Asked first of each delivery; default: any host is taken. */
  readonly hostGuard?: HostGuard | undefined;
  /** Opened with the options that `inboxRequirements` gives for the same policy and targets. */
  readonly inbox: Pick<Inbox, 'take' | 'reject'>;
  /** One for each target. Default: none. */
  readonly workers?: readonly DeliveryWorker[] | undefined;
  readonly clock: Clock;
  readonly note: (found: ReceiverNote) => void;
  /** The neutral sentence of an error, for events and notes. */
  readonly sentenceOf: (error: unknown) => string;
  /** Called with the index of the key of each authentic delivery. */
  readonly onKey?: ((index: number) => void) | undefined;
  /** Failures on purpose, for tests of a sender. */
  readonly failures?: DeliberateFailures | undefined;
  /** What the credential of a rejected delivery would have matched, one sentence each. */
  readonly explain?: ((delivery: Delivery, rejection: Rejection) => readonly string[]) | undefined;
  readonly observer?: ReceiverObserver | undefined;
}

/** The part of a worker that new leads need. */
export type DeliveryWorker = Pick<ForwardWorker, 'target' | 'reserve' | 'send' | 'wake'>;

interface DeliberateFailures {
  /** The answer that replaces taking the leads of a delivery; undefined to take them. */
  failureFor(leadIds: readonly string[]): Rejection | undefined;
  /** The status of an answer, which may be another one. */
  statusFor(status: number): number;
  /** Ends before an answer is sent; undefined when there is nothing to wait for. */
  wait(): Promise<void> | undefined;
}

/** Takes deliveries from any source: it knows nothing of sockets. */
export interface Receiver {
  /** What can be rejected before the body is complete. */
  checkHead(head: Delivery): Rejection | undefined;
  /** Takes one delivery through the contract's order of work, to its answer. */
  handle(delivery: Delivery): Promise<DeliveryAnswer>;
  /** The same for a delivery that needs no check, such as a lead that was pulled from the service. */
  handleChecked(checked: CheckedDelivery, source: Source): Promise<DeliveryAnswer>;
  /** Keeps, and emits, a request that was rejected before it became a delivery. */
  handleRejected(delivery: Delivery, rejection: Rejection): Promise<DeliveryAnswer>;
  /**
   * One event for each lead of a delivery, and for each rejected delivery, when its answer is known. A delivery is answered
   * only when the listeners have room. A listener that throws fails the delivery, so that its sender sends it again.
   */
  readonly events: Subscribable<AnsweredDelivery>;
  /** Resolves when no delivery is without its answer. */
  idle(): Promise<void>;
}
