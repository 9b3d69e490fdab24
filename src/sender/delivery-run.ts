import { setMaxListeners } from 'node:events';
import { createHistogram } from 'node:perf_hooks';
import type { Clock } from '../time/clock.ts';
import type { Attempt, Sender } from './sender.ts';
import type { OutgoingDelivery } from './sign-request.ts';

export interface TimedAttempt {
  readonly attempt: Attempt;
  /** Until the end of the answer: in an open loop from the intended start, otherwise from the real one; ms. */
  readonly latencyMs: number;
}

export interface DeliveryRunOptions {
  /** Read no faster than deliveries are started. */
  readonly source: AsyncIterable<OutgoingDelivery>;
  readonly sender: Sender;
  readonly concurrency: number;
  /** Milliseconds between the starts of an open loop; left out: a closed loop. */
  readonly intervalMs?: number | undefined;
  /** In milliseconds; no delivery is started later. */
  readonly forMs?: number | undefined;
  readonly count?: number | undefined;
  readonly clock: Clock;
  /** Ends the run: what is in flight is cut, and not reported. */
  readonly signal: AbortSignal;
  /** The next delivery starts when what this returns has resolved: output that cannot keep up slows the run down. */
  readonly onAttempt: (attempt: TimedAttempt) => Promise<void> | void;
}

export interface DeliveryRunResult {
  readonly started: number;
  /** Deliveries of an open loop that had to wait for a free slot. */
  readonly late: number;
  readonly elapsedMs: number;
  readonly startingMs: number;
  /** The source failed, or a delivery could not be signed. */
  readonly failure: { readonly error: unknown } | undefined;
}

/** Deliveries that wait for a slot or a retry: they are held in memory. */
const mostWaiting = 1000;
/** A slow source prolongs an open loop by at most so many milliseconds. */
const mostDelayMs = 1000;

/**
 * Delivers what the source has. In a closed loop the next delivery starts when another one has ended. In an open loop it
 * starts when its time has come, or late where no slot is free then, and its latency counts from the time that was
 * intended: otherwise a receiver that stalls would hide it (coordinated omission). A delivery that waits for a retry
 * holds no slot.
 */
export async function runDeliveries(options: DeliveryRunOptions): Promise<DeliveryRunResult> {
  const { source, sender, concurrency, intervalMs, forMs = Infinity, count = Infinity } = options;
  const { clock, signal, onAttempt } = options;
  setMaxListeners(0, signal);
  signal.addEventListener('abort', () => sender.close(), { once: true });
  const slots = new Slots(concurrency);
  const places = new Slots(mostWaiting + concurrency);
  const running = new Set<Promise<void>>();
  let startedAt = clock.steady();
  let lastStartAt = startedAt;
  let started = 0;
  let late = 0;
  let isBehind: Promise<void> | undefined;
  let failure: DeliveryRunResult['failure'];
  const fail = (error: unknown): void => void (failure ??= { error });
  const isOver = (): boolean => signal.aborted || failure !== undefined || started === count;
  const sleep = (ms: number): Promise<void> => clock.sleep(ms, signal).catch(() => undefined);

  const deliver = async (delivery: OutgoingDelivery, intendedStart: number, slot: Slot): Promise<void> => {
    let dueAt = intendedStart;
    let release = await slot;
    for (let number = 1; ; number += 1) {
      const attempt = await sender.attempt(delivery, number).finally(release);
      if (signal.aborted) return;
      const latencyMs = intervalMs === undefined ? attempt.result.durationMs : clock.steady() - dueAt;
      isBehind = onAttempt({ attempt, latencyMs }) ?? isBehind;
      if (attempt.retryInMs === undefined) return;
      await sleep(attempt.retryInMs);
      dueAt = clock.steady();
      release = await slots.acquire();
    }
  };

  const start = (delivery: OutgoingDelivery, dueAt: number, leavePlace: Release, slot: Slot): void => {
    started += 1;
    lastStartAt = clock.steady();
    const run = deliver(delivery, dueAt, slot)
      .catch(fail)
      .finally(() => {
        leavePlace();
        running.delete(run);
      });
    running.add(run);
  };

  const startAll = async (): Promise<void> => {
    let nextAt = startedAt;
    let askedAt = startedAt;
    for await (const delivery of source) {
      // The run begins when there is something to deliver. The time that a slow source takes later is not the receiver's.
      if (started === 0) startedAt = nextAt = clock.steady();
      else nextAt += Math.max(0, clock.steady() - Math.max(askedAt, nextAt));
      if (intervalMs !== undefined) {
        if (started * intervalMs >= forMs || nextAt - startedAt >= forMs + mostDelayMs) return;
        if (nextAt > clock.steady()) await sleep(nextAt - clock.steady());
        if (isOver()) return;
      }
      // The place comes before the slot: retries, which free places, wait for the slot.
      const leavePlace = await places.acquire();
      const slot = slots.acquire();
      if (intervalMs !== undefined) {
        if (slot instanceof Promise) late += 1;
        start(delivery, nextAt, leavePlace, slot);
        nextAt += intervalMs;
      } else {
        const release = await slot;
        if (isOver() || clock.steady() - startedAt >= forMs) {
          release();
          return;
        }
        start(delivery, clock.steady(), leavePlace, release);
      }
      await isBehind;
      isBehind = undefined;
      if (isOver()) return;
      askedAt = clock.steady();
    }
  };
  await startAll().catch(fail);
  await Promise.all(running);
  const elapsedMs = clock.steady() - startedAt;
  const startingMs = intervalMs === undefined ? elapsedMs : lastStartAt - startedAt + intervalMs;
  return { started, late, elapsedMs, startingMs, failure };
}

export class RunTally {
  readonly latency = new LatencyHistogram();
  readonly byStatus = new Map<string, number>();
  attempts = 0;
  acknowledged = 0;
  failed = 0;
  answered = 0;
  firstFailure: Attempt | undefined;

  add({ attempt, latencyMs }: TimedAttempt): void {
    const { outcome, result, retryInMs } = attempt;
    this.attempts += 1;
    this.latency.add(latencyMs);
    const status = result.ok ? String(result.status) : result.code;
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    if (result.ok) this.answered += 1;
    if (outcome === 'acknowledged') {
      this.acknowledged += 1;
      return;
    }
    this.firstFailure ??= attempt;
    if (retryInMs === undefined) this.failed += 1;
  }
}

export type Release = () => void;

type Slot = Release | Promise<Release>;

/** Limits how many things are done at one time; the others wait in order of arrival. */
export class Slots {
  #free: number;
  #isPaused = false;
  /** A hundred thousand may wait, so that those in front are removed together. */
  #waiting: ((release: Release) => void)[] = [];
  #granted = 0;

  constructor(count: number) {
    this.#free = count;
  }

  get paused(): boolean {
    return this.#isPaused;
  }

  acquire(): Slot {
    if (!this.#isPaused && this.#free > 0) {
      this.#free -= 1;
      return this.#release;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#grant();
  }

  readonly #release = (): void => {
    this.#free += 1;
    this.#grant();
  };

  #grant(): void {
    while (!this.#isPaused && this.#free > 0 && this.#granted < this.#waiting.length) {
      this.#free -= 1;
      this.#waiting[this.#granted]?.(this.#release);
      this.#granted += 1;
    }
    if (this.#granted < 1024 || this.#granted * 2 < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#granted);
    this.#granted = 0;
  }
}

export type Percentiles = Readonly<Record<'p50' | 'p90' | 'p99' | 'max', number>>;

/** Counts durations in milliseconds in fixed memory, each to within 0.1 %. */
export class LatencyHistogram {
  readonly #microseconds = createHistogram({ figures: 3 });
  #maxMs = 0;

  add(ms: number): void {
    const microseconds = Math.round(ms * 1000);
    this.#microseconds.record(Math.max(1, microseconds));
    this.#maxMs = Math.max(this.#maxMs, microseconds / 1000);
  }

  /** By nearest rank: the smallest value that so many percent of all do not exceed. Undefined as long as nothing was counted. */
  percentiles(): Percentiles | undefined {
    const { count } = this.#microseconds;
    if (count === 0) return undefined;
    // Node rounds the rank: only the share of a whole rank names that rank exactly.
    const atShare = (share: number): number =>
      Math.min(this.#maxMs, this.#microseconds.percentile((100 * Math.ceil(share * count)) / count) / 1000);
    return { p50: atShare(0.5), p90: atShare(0.9), p99: atShare(0.99), max: this.#maxMs };
  }
}
