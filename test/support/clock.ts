import type { Clock } from '../../src/time/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that stands still until the test moves it, or, with `hasty`, jumps to the end of every sleep. */
export class FakeClock implements Clock {
  /** Every sleep that was asked for, in milliseconds. */
  readonly sleeps: number[] = [];
  #now: number;
  /** By how much somebody has set `now` forward. */
  #setBy = 0;
  #sleepers: Sleeper[] = [];
  readonly #hasty: boolean;

  constructor(start = Date.UTC(2026, 0, 15, 12), options: { hasty?: boolean } = {}) {
    this.#now = start;
    this.#hasty = options.hasty ?? false;
  }

  now(): number {
    return this.#now + this.#setBy;
  }

  steady(): number {
    return this.#now;
  }

  /** Somebody sets the system's time: `now` jumps, back when `ms` is negative, and nobody wakes. */
  set(ms: number): void {
    this.#setBy += ms;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.sleeps.push(ms);
    if (this.#hasty) {
      this.#now += ms;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const aborted = (): void => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper);
        reject(signal?.reason as Error);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', aborted);
        resolve();
      };
      const sleeper = { at: this.#now + ms, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', aborted, { once: true });
    });
  }

  /** Moves time on and wakes, in order, everyone whose time has come. */
  advance(ms: number): void {
    this.#now += ms;
    const due = this.#sleepers.filter((one) => one.at <= this.#now).sort((a, b) => a.at - b.at);
    this.#sleepers = this.#sleepers.filter((one) => one.at > this.#now);
    for (const one of due) one.wake();
  }
}
