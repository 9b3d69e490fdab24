import { setMaxListeners } from 'node:events';
import type { Clock } from '../time/clock.ts';
import type { Attempt, Sender } from './sender.ts';
import type { OutgoingDelivery } from './sign-request.ts';
import { type Release, type Slot, Slots } from './slots.ts';
import { createHistogram } from 'node:perf_hooks';

export interface TimedAttempt {
  readonly attempt: Attempt;
  /** Until the end of the answer: in an open loop from the time at which the attempt was due, otherwise from its start; ms. */
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

/**
 * `late` counts the deliveries of an open loop that had to wait for a free slot, and `startingMs` is the part of `elapsedMs` in
 * which deliveries were started. There is a `failure` where the source failed, or a delivery could not be signed.
 */
export type DeliveryRunResult = Awaited<ReturnType<typeof runDeliveries>>;

/** Deliveries that wait for a slot or a retry: they are held in memory. */
const mostWaiting = 1000;
/** In milliseconds: a slow source prolongs an open loop no further. */
const longestProlongationMs = 1000;

/**
 * Delivers what the source has. In a closed loop the next delivery starts when another one has ended. In an open loop it
 * starts when it is due, or late where no slot is free then, and its latency counts from the time at which it was due: otherwise
 * a receiver that stalls would hide it (coordinated omission). A delivery holds a slot during an attempt, and not while it waits
 * for a retry; it holds a place, of which there are more, from its start until its last attempt has ended.
 */
export async function runDeliveries(options: DeliveryRunOptions) {
  const { source, sender, concurrency, intervalMs, onAttempt, clock, signal } = options;
  const { forMs = Infinity, count = Infinity } = options;
  const slots = new Slots(concurrency);
  const places = new Slots(mostWaiting + concurrency);
  const running = new Set<Promise<void>>();
  let startedAt = clock.steady();
  let lastStartAt = startedAt;
  let started = 0;
  let late = 0;
  /** Resolves when the output has caught up; undefined where there is no output to wait for. */
  let pendingOutput: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;

  const fail = (error: unknown): void => {
    failure ??= { error };
  };
  const isOver = (): boolean => signal.aborted || failure !== undefined || started === count;

  async function sleep(ms: number): Promise<void> {
    if (ms > 0) await clock.sleep(ms, signal).catch(() => undefined);
  }

  async function outputToCatchUp(): Promise<void> {
    await pendingOutput;
    pendingOutput = undefined;
  }

  async function closedLoop(): Promise<void> {
    for await (const delivery of source) {
      if (started === 0) startedAt = clock.steady();
      // The place comes before the slot: retries, which free places, wait for the slot.
      const leavePlace = await places.acquire();
      const releaseSlot = await slots.acquire();
      const isTimeUp = clock.steady() - startedAt >= forMs;
      if (isTimeUp || isOver()) {
        releaseSlot();
        return;
      }
      start(delivery, clock.steady(), leavePlace, releaseSlot);
      await outputToCatchUp();
      if (isOver()) return;
    }
  }

  async function openLoop(waitMs: number): Promise<void> {
    let dueAt = startedAt;
    let sourceAskedAt = startedAt;
    for await (const delivery of source) {
      // The run begins when there is something to deliver. What a slow source delays later is no fault of the receiver.
      if (started === 0) startedAt = dueAt = clock.steady();
      else dueAt += Math.max(0, clock.steady() - Math.max(sourceAskedAt, dueAt));
      const hasStartedAll = started * waitMs >= forMs;
      if (hasStartedAll || dueAt - startedAt >= forMs + longestProlongationMs) return;
      await sleep(dueAt - clock.steady());
      if (isOver()) return;
      const leavePlace = await places.acquire();
      const slot = slots.acquire();
      if (slot instanceof Promise) late += 1;
      start(delivery, dueAt, leavePlace, slot);
      dueAt += waitMs;
      await outputToCatchUp();
      if (isOver()) return;
      sourceAskedAt = clock.steady();
    }
  }

  function start(delivery: OutgoingDelivery, dueAt: number, leavePlace: Release, slot: Slot): void {
    started += 1;
    lastStartAt = clock.steady();
    const run = deliver(delivery, dueAt, slot)
      .catch(fail)
      .finally(() => {
        leavePlace();
        running.delete(run);
      });
    running.add(run);
  }

  async function deliver(delivery: OutgoingDelivery, firstDueAt: number, slot: Slot): Promise<void> {
    let dueAt = firstDueAt;
    let releaseSlot = await slot;
    for (let number = 1; ; number += 1) {
      const attempt = await sender.attempt(delivery, number).finally(releaseSlot);
      if (signal.aborted) return;
      const latencyMs = intervalMs === undefined ? attempt.result.durationMs : clock.steady() - dueAt;
      pendingOutput = onAttempt({ attempt, latencyMs }) ?? pendingOutput;
      if (attempt.retryInMs === undefined) return;
      await sleep(attempt.retryInMs);
      dueAt = clock.steady();
      releaseSlot = await slots.acquire();
    }
  }

  setMaxListeners(0, signal);
  signal.addEventListener('abort', () => sender.close(), { once: true });
  await (intervalMs === undefined ? closedLoop() : openLoop(intervalMs)).catch(fail);
  await Promise.all(running);
  const elapsedMs = clock.steady() - startedAt;
  const startingMs = intervalMs === undefined ? elapsedMs : lastStartAt - startedAt + intervalMs;
  return { started, late, elapsedMs, startingMs, failure };
}

/** Counts the attempts of a run. `acknowledged` and `failed` are deliveries, which have no attempt to come. */
export class RunTally {
  readonly latency = new LatencyHistogram();
  readonly byStatus = new Map<string, number>();
  attempts = 0;
  answered = 0;
  acknowledged = 0;
  failed = 0;
  firstFailure: Attempt | undefined;

  add({ attempt, latencyMs }: TimedAttempt): void {
    const { outcome, result, retryInMs } = attempt;
    this.attempts += 1;
    this.latency.add(latencyMs);
    const statusOrCode = result.ok ? String(result.status) : result.code;
    this.byStatus.set(statusOrCode, (this.byStatus.get(statusOrCode) ?? 0) + 1);
    if (result.ok) this.answered += 1;
    if (outcome === 'acknowledged') {
      this.acknowledged += 1;
      return;
    }
    this.firstFailure ??= attempt;
    if (retryInMs === undefined) this.failed += 1;
  }
}

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
  percentiles() {
    const { count } = this.#microseconds;
    if (count === 0) return undefined;
    // Node rounds the rank: only the share of a whole rank names that rank exactly.
    const atShare = (share: number): number =>
      Math.min(this.#maxMs, this.#microseconds.percentile((100 * Math.ceil(share * count)) / count) / 1000);
    return { p50: atShare(0.5), p90: atShare(0.9), p99: atShare(0.99), max: this.#maxMs };
  }
}
