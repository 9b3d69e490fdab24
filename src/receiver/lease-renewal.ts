import type { Inbox, LeaseAnswer, TargetLease } from '../inbox/inbox.ts';
import { longestLeaseMs } from '../inbox/store-options.ts';
import { type Clock, slept } from '../time/clock.ts';

/** How long a lease holds whose receiver does not renew it, in milliseconds. */
export const leaseMs = 5000;

/** The same for one that does not renew it: an attempt of up to ten minutes ends before its lease does. Both in milliseconds. */
export const unrenewedLeaseMs = (timeoutMs: number): number => Math.min(timeoutMs + leaseMs, longestLeaseMs);

const renewEveryMs = 1500;

/** One that was asked for so long ago, in milliseconds, may end before its renewal is answered. */
export const uncertainMs = 2500;

/** Between two questions, each of which is for all leads together, in milliseconds. */
const askEveryMs = 250;

/** So long a delivery waits for what another receiver makes of its lead, and so many do at the same time. */
const longestWaitMs = 5000;
const mostWaiting = 1000;

/** A lease that is asked for again and again. Times are of the clock that goes on evenly. */
interface Asked {
  readonly lease: TargetLease;
  readonly everyMs: number;
  askAt: number;
  /** Only of one that another receiver has. */
  readonly endsAt?: number;
  /** Undefined where it ends without an answer. */
  readonly heard: (answer?: HeardAnswer) => void;
  /** Only of one that another receiver had: it was granted after nobody waited for it any more. */
  readonly onLate?: () => void;
}

/** `askedAt`: by the clock that goes on evenly; a lease holds from then on, however late its answer comes. */
type HeardAnswer = LeaseAnswer & { readonly askedAt: number };

/** Leases that change while leads are on their way: its own, which it renews, and those of others, which end. */
export class LeaseRenewal {
  readonly #inbox: Pick<Inbox, 'lease'>;
  readonly #clock: Pick<Clock, 'steady' | 'sleep'>;
  readonly #signal: AbortSignal | undefined;
  readonly #asked = new Set<Asked>();
  #waiting = 0;
  #isRunning = false;

  /** `signal`: nobody waits for another receiver any more. */
  constructor(
    inbox: Pick<Inbox, 'lease'>,
    clock: Pick<Clock, 'steady' | 'sleep'>,
    signal: AbortSignal | undefined,
  ) {
    this.#inbox = inbox;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Whether leases that were asked for then, by the clock that goes on evenly, may be another receiver's by now. */
  areUncertain(leasedAt: number): boolean {
    return this.#clock.steady() - leasedAt >= uncertainMs;
  }

  /**
   * Renews a lease until the function that it returns is called, which tells whether it still held. `leasedAt`: when it was
   * asked for; `onLost`: somebody else has the lead now.
   */
  keep(lease: TargetLease, leasedAt: number, onLost: () => void): () => boolean {
    const asked: Asked = {
      lease,
      everyMs: renewEveryMs,
      askAt: leasedAt + renewEveryMs,
      heard: (answer) => {
        if (answer?.state === 'leased') return;
        this.#asked.delete(asked);
        onLost();
      },
    };
    this.#add(asked);
    return () => this.#asked.delete(asked);
  }

  /**
   * What another receiver made of its lease: `settled`, or `leased` to this one where it is free. Undefined where too many
   * wait already, it takes too long, or the receiver ends; `onLate`: it was leased to this one after that.
   */
  async afterOther(lease: TargetLease, onLate: () => void): Promise<HeardAnswer | undefined> {
    if (this.#waiting >= mostWaiting || this.#signal?.aborted === true) return undefined;
    this.#waiting += 1;
    const answer = await new Promise<HeardAnswer | undefined>((resolve) => {
      const now = this.#clock.steady();
      const asked: Asked = {
        lease,
        everyMs: askEveryMs,
        askAt: now,
        endsAt: now + longestWaitMs,
        onLate,
        heard: (answer) => {
          if (answer?.state === 'busy') return;
          this.#asked.delete(asked);
          resolve(answer);
        },
      };
      this.#add(asked);
    });
    this.#waiting -= 1;
    return answer;
  }

  #add(asked: Asked): void {
    this.#asked.add(asked);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#asked.size > 0) {
      const isOver = this.#signal?.aborted === true;
      await slept(this.#clock, askEveryMs, isOver ? undefined : this.#signal);
      const now = this.#clock.steady();
      const latest = this.#signal?.aborted === true ? Number.POSITIVE_INFINITY : now;
      for (const { endsAt, heard } of this.#asked) if (endsAt !== undefined && endsAt <= latest) heard();
      void this.#ask([...this.#asked].filter(({ askAt }) => askAt <= now));
    }
    this.#isRunning = false;
  }

  async #ask(due: readonly Asked[]): Promise<void> {
    if (due.length === 0) return;
    const askedAt = this.#clock.steady();
    // Not again before it is answered; others do not wait for that.
    for (const one of due) one.askAt = Number.POSITIVE_INFINITY;
    let answers: readonly LeaseAnswer[] = [];
    try {
      answers = await this.#inbox.lease(due.map(({ lease }) => lease));
    } catch {
      // It is asked again soon; what cannot be renewed meanwhile is free for others, and is not lost before one takes it.
    }
    for (const [i, one] of due.entries()) {
      const answer = answers[i];
      one.askAt = answer === undefined ? askedAt : askedAt + one.everyMs;
      if (answer !== undefined && this.#asked.has(one)) one.heard({ ...answer, askedAt });
      else if (answer?.state === 'leased') one.onLate?.();
    }
  }
}
