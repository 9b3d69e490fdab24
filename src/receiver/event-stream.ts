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
