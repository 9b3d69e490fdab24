import type { VerdictKind } from '../inbox/query-types.ts';
import type { ForwardState, Source } from '../inbox/inbox.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { OtherReason, RejectReason } from '../webhook/delivery-answer.ts';
import type { TargetResult } from './targets/target.ts';

/** The event of a delivery that reached its last state, one for each lead in it. Times are milliseconds since the epoch. */
export interface AnsweredDelivery {
  /** As received: its path and headers may hold credentials (`deliveryRedactor` takes them out). */
  readonly delivery: Delivery;
  readonly receivedAt: number;
  readonly verdict: VerdictKind;
  /** HTTP status of the answer to the delivery. */
  readonly status: number;
  /** From receipt to answer, in milliseconds. */
  readonly durationMs: number;
  readonly remote: string;
  readonly method: string;
  /** Without secrets. */
  readonly path: string;
  readonly source: Source;
  readonly reason?: RejectReason | OtherReason | undefined;
  /** One sentence beside the reason. */
  readonly detail?: string | undefined;
  readonly leadId?: string | undefined;
  /** Which of the several leads of its delivery it is, from 1; undefined where it is the only one. */
  readonly position?: { readonly number: number; readonly of: number } | undefined;
  /** Which delivery of this id it is, from 1. */
  readonly attempt?: number | undefined;
  /** When the id was first received. */
  readonly firstAt?: number | undefined;
  /** The lead's own bytes, compact; absent for a delivery that was not taken. */
  readonly lead?: Uint8Array | undefined;
  /** Where in the body the lead is, as a pointer in which `*` steps through an array; absent where it is the body. */
  readonly pointer?: string | undefined;
  /** Fields whose values differ from the first payload of this id. */
  readonly differs?: readonly string[] | undefined;
  /** Deviations from the specification. */
  readonly warnings?: readonly string[] | undefined;
  /** Other schemes or encodings that the credential would have matched. */
  readonly explanation?: readonly string[] | undefined;
}

/** The event of one attempt to forward a lead. */
export interface ForwardAttempt {
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
  readonly leadId: string;
  /** A label that holds no credentials. */
  readonly target: string;
  /** The how many-th attempt it is, from 1. */
  readonly attempt: number;
  /** Where the lead stands at the target now. */
  readonly state: ForwardState;
  /** From then to the next attempt, in milliseconds; undefined where there is none. */
  readonly retryInMs: number | undefined;
  readonly result: TargetResult;
}

/** Gets every event, in order. While a promise that it returns is pending, whatever emitted the event waits. */
export type EventListener<E> = (event: E) => Promise<void> | void;

/** What subscribers see of an event stream. */
export interface Subscribable<E> {
  /** Listeners are called in the order in which they subscribed. Returns a function that ends the subscription. */
  subscribe(listener: EventListener<E>): () => void;
}

/**
 * Events for any number of listeners. Nothing is buffered: a listener that cannot keep up returns a promise, and so
 * holds back the source of the events.
 */
export class EventStream<E> implements Subscribable<E> {
  readonly #listeners = new Set<EventListener<E>>();

  subscribe(listener: EventListener<E>): () => void {
    // A function of its own, so that one listener may subscribe twice.
    const subscription: EventListener<E> = (event) => listener(event);
    this.#listeners.add(subscription);
    return () => void this.#listeners.delete(subscription);
  }

  /** Undefined when no listener asks to wait, so that the usual case costs no promise. Throws what a listener throws. */
  emit(event: E): Promise<unknown> | undefined {
    let pending: Promise<void>[] | undefined;
    for (const listener of this.#listeners) {
      const room = listener(event);
      if (room !== undefined) (pending ??= []).push(room);
    }
    return pending === undefined ? undefined : Promise.all(pending);
  }
}

/** Is told what a receiver does, for measuring it. Times in milliseconds. */
export interface ReceiverObserver {
  /** Of a clock that goes on evenly. */
  now(): number;
  /** A delivery has its answer; `ms` from its receipt. */
  answered(ms: number): void;
  /** The leads of a delivery are durable; `ms` from when they were given to the inbox. */
  stored(ms: number): void;
  /** The inbox did not take a delivery. */
  notStored(): void;
}
