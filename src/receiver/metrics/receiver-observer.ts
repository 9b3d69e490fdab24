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
