import type { Backlog, InboxMonitor } from '../../inbox/inbox-monitor.ts';
import type { Clock } from '../../time/clock.ts';

/** The shortest time for which what was read is good, in milliseconds, and how many times as long as reading it took. */
const freshMs = 1000;
const timesReading = 50;

/** Reads what is outstanding for those who ask for metrics, so seldom that it takes one fiftieth of the time at most. */
export class BacklogCache {
  readonly #inbox: Pick<InboxMonitor, 'backlog'>;
  readonly #clock: Pick<Clock, 'steady'>;
  #reading: Promise<readonly Backlog[]> | undefined;
  #goodUntil = 0;

  constructor(inbox: Pick<InboxMonitor, 'backlog'>, clock: Pick<Clock, 'steady'>) {
    this.#inbox = inbox;
    this.#clock = clock;
  }

  read(): Promise<readonly Backlog[]> {
    if (this.#reading === undefined || this.#clock.steady() >= this.#goodUntil) {
      this.#goodUntil = Number.POSITIVE_INFINITY;
      this.#reading = this.#readNow();
    }
    return this.#reading;
  }

  async #readNow(): Promise<readonly Backlog[]> {
    const startedAt = this.#clock.steady();
    try {
      return await this.#inbox.backlog();
    } finally {
      const now = this.#clock.steady();
      this.#goodUntil = now + Math.max(freshMs, (now - startedAt) * timesReading);
    }
  }
}
