import type { Clock } from '../../time/clock.ts';

/** Holds every request to one origin back while a `Retry-After` of one of them runs. */
export class RateGate {
  readonly #clock: Clock;
  #until = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** No request goes out before this time; ms since the epoch. */
  holdUntil(time: number): void {
    this.#until = Math.max(this.#until, time);
  }

  /** Milliseconds until requests may go out; 0 or less: now. */
  get waitMs(): number {
    return this.#until - this.#clock.now();
  }

  /** Waits until requests may go out. */
  async pass(signal: AbortSignal): Promise<void> {
    for (let wait = this.waitMs; wait > 0; wait = this.waitMs) await this.#clock.sleep(wait, signal);
  }
}
