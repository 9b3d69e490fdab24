import { setMaxListeners } from 'node:events';
import type { Clock } from '../time/clock.ts';
import type { Attempt, Sender } from './sender.ts';
import type { OutgoingDelivery } from './sign-request.ts';

/** An attempt of a run, with the time that counts in its summary. */
export interface TimedAttempt {
  readonly attempt: Attempt;
  /** Until the end of the answer: in an open loop from the intended start, otherwise from the real one; ms. */
  readonly latencyMs: number;
}

export interface DeliveryRunOptions {
  /** In batches; read no faster than deliveries are started. */
  readonly source: AsyncIterable<readonly OutgoingDelivery[]>;
  readonly sender: Sender;
  /** Requests in flight at one time. */
  readonly concurrency: number;
  /** Makes it an open loop: each delivery is to start so many milliseconds after the one before. */
  readonly intervalMs?: number | undefined;
  /** No delivery is started after this time; ms. */
  readonly forMs?: number | undefined;
  /** No more than so many are started. */
  readonly most?: number | undefined;
  readonly clock: Clock;
  /** Ends the run: what is in flight is cut, and not reported. */
  readonly signal: AbortSignal;
  /** The next delivery starts when what this returns has resolved: output that cannot keep up slows the run down. */
  readonly onAttempt: (attempt: TimedAttempt) => Promise<void> | void;
}

/** How a run went, beside its attempts. */
export interface DeliveryRunResult {
  readonly started: number;
  /** Deliveries of an open loop that had to wait for a free slot. */
  readonly late: number;
  readonly elapsedMs: number;
  /** Of it, the time from the first start to where the one behind the last would have been. */
  readonly startingMs: number;
  /** Why it ended early, other than by the signal: the source failed, or a delivery could not be signed. */
  readonly failure: { readonly error: unknown } | undefined;
}

/** Deliveries that wait for a slot or a retry: they are held in memory. */
const mostWaiting = 1000;
/** By how much a slow source may prolong an open loop that has a duration; ms. */
const mostDelayMs = 1000;

/**
 * Delivers what the source has. In a closed loop the next delivery starts when another one has ended. In an open loop it
 * starts when its time has come, or late where no slot is free then, and its latency counts from the time that was
 * intended: otherwise a receiver that stalls would hide it (coordinated omission). A delivery that waits for a retry
 * holds no slot.
 */
export async function runDeliveries(options: DeliveryRunOptions): Promise<DeliveryRunResult> {
  const { source, sender, concurrency, intervalMs, forMs = Infinity, most = Infinity } = options;
  const { clock, signal, onAttempt } = options;
  // Everything that waits or is in flight listens to it.
  setMaxListeners(0, signal);
  const slots = new SlotQueue(concurrency);
  const waiting = new SlotQueue(mostWaiting + concurrency);
  let startedAt = clock.steady();
  const unfinished: Unfinished = { open: 0, resolve: undefined };
  let started = 0;
  let late = 0;
  let lastStartAt = startedAt;
  let behind: Promise<void> | undefined;
  let failure: DeliveryRunResult['failure'];
  const fail = (error: unknown): void => void (failure ??= { error });
  const isOver = (): boolean => signal.aborted || failure !== undefined || started === most;

  const slotFor = (isFirst: boolean): Release | Promise<Release> => {
    const slot = taken(slots);
    if (isFirst && slot instanceof Promise) late += 1;
    return slot;
  };

  // The same as `sender.deliver`, without what a generator costs for each delivery.
  const deliver = async (delivery: OutgoingDelivery, due: number, first: Release | undefined) => {
    let dueAt = due;
    let slot = first ?? (await slotFor(true));
    for (let number = 1; ; number += 1) {
      const attempt = await sender.attempt(delivery, number, { signal }).finally(slot);
      if (signal.aborted) return;
      const { durationMs } = attempt.result;
      const latencyMs = intervalMs === undefined ? durationMs : clock.steady() - dueAt;
      behind = onAttempt({ attempt, latencyMs }) ?? behind;
      if (attempt.retryInMs === undefined) return;
      await clock.sleep(attempt.retryInMs, signal).catch(() => undefined);
      dueAt = clock.steady();
      slot = await slotFor(false);
    }
  };

  const start = (delivery: OutgoingDelivery, dueAt: number, place: Release, first?: Release): void => {
    started += 1;
    lastStartAt = clock.steady();
    unfinished.open += 1;
    void deliver(delivery, dueAt, first)
      .catch(fail)
      .then(() => {
        place();
        unfinished.open -= 1;
        if (unfinished.open === 0) unfinished.resolve?.();
      });
  };

  const startAll = async (): Promise<void> => {
    let delayedMs = 0;
    let askedAt = startedAt;
    for await (const batch of source) {
      // The run begins when there is something to deliver.
      if (started === 0) startedAt = askedAt = clock.steady();
      for (const delivery of batch) {
        if (intervalMs === undefined) {
          // Before the slot, for which the retries wait that are to free a place.
          const place = await taken(waiting);
          const slot = await taken(slots);
          if (isOver() || clock.steady() - startedAt >= forMs) {
            slot();
            return;
          }
          start(delivery, clock.steady(), place, slot);
        } else {
          const plannedMs = started * intervalMs;
          // A source that is slow delays what follows: its time is not the receiver's.
          delayedMs += Math.max(0, clock.steady() - Math.max(askedAt, startedAt + delayedMs + plannedMs));
          if (plannedMs >= forMs || plannedMs + delayedMs >= forMs + mostDelayMs) return;
          const dueAt = startedAt + delayedMs + plannedMs;
          await sleptUntil(dueAt, clock, signal);
          if (isOver()) return;
          start(delivery, dueAt, await taken(waiting));
        }
        await behind;
        behind = undefined;
        if (isOver()) return;
        askedAt = clock.steady();
      }
    }
  };
  await startAll().catch(fail);
  if (unfinished.open > 0) await new Promise<void>((resolve) => (unfinished.resolve = resolve));
  const elapsedMs = clock.steady() - startedAt;
  const startingMs = intervalMs === undefined ? elapsedMs : lastStartAt - startedAt + intervalMs;
  return { started, late, elapsedMs, startingMs, failure };
}

type Release = () => void;

interface Unfinished {
  open: number;
  resolve: (() => void) | undefined;
}

/** A slot at once, or else one as soon as it is free. */
function taken(slots: SlotQueue): Release | Promise<Release> {
  let release: Release | undefined;
  let onGranted = (granted: Release): void => void (release = granted);
  slots.enqueue((granted) => onGranted(granted));
  return release ?? new Promise<Release>((resolve) => (onGranted = resolve));
}

/** Or until the signal aborts. */
async function sleptUntil(at: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const ms = at - clock.steady();
  if (ms > 0) await clock.sleep(ms, signal).catch(() => undefined);
}

/** Counts the attempts of a run in fixed memory. */
export class RunTally {
  readonly latency = new LatencyHistogram();
  readonly service = new LatencyHistogram();
  /** By the status of the answer, or by what happened instead of one. */
  readonly byStatus = new Map<string, number>();
  attempts = 0;
  /** Deliveries that were answered 200. */
  acknowledged = 0;
  /** Deliveries that were given up. */
  failed = 0;
  /** Attempts that were answered, in whatever way. */
  answered = 0;
  /** The first attempt that was not acknowledged. */
  firstFailure: Attempt | undefined;

  add({ attempt, latencyMs }: TimedAttempt): void {
    const { outcome, result, retryInMs } = attempt;
    this.attempts += 1;
    this.latency.add(latencyMs);
    this.service.add(result.durationMs);
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

/** Work that was given a slot: it keeps the slot until it calls `release`, once. */
export type SlotWork = (release: () => void) => void;

/** Work in order of arrival, at most so much of it at one time. */
export class SlotQueue {
  readonly #slots: number;
  readonly #waiting = new Fifo<SlotWork>();
  #used = 0;
  #isPaused = false;
  #starting = false;

  constructor(slots: number) {
    this.#slots = slots;
  }

  enqueue(work: SlotWork): void {
    this.#waiting.push(work);
    this.#startWaiting();
  }

  get paused(): boolean {
    return this.#isPaused;
  }

  /** Nothing is started until `resume`; what runs goes on. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#startWaiting();
  }

  #startWaiting(): void {
    // Work that releases its slot at once comes back here: the loop below goes on instead of a deeper call.
    if (this.#starting) return;
    this.#starting = true;
    while (!this.#isPaused && this.#used < this.#slots) {
      const work = this.#waiting.shift();
      if (work === undefined) break;
      this.#used += 1;
      work(() => {
        this.#used -= 1;
        this.#startWaiting();
      });
    }
    this.#starting = false;
  }
}

/** First in, first out; an array's own `shift` moves everything that waits, and a hundred thousand may. */
class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

/** Steps in each doubling: a value is known to within 0.8%. */
const stepsPerDoubling = 64;
const doublings = 32;
const microsecondsPerMs = 1000;

/** What a summary says of many durations, in milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/**
 * Counts durations in fixed memory, however many there are: in steps of a microsecond up to 128 µs, then in 64 steps for
 * each doubling, up to 38 hours. The idea is that of HdrHistogram (http://hdrhistogram.org).
 */
export class LatencyHistogram {
  readonly #counts = new Float64Array(stepsPerDoubling * (doublings + 1));
  #total = 0;
  #max = 0;

  /** In milliseconds; what is below zero counts as zero. */
  add(ms: number): void {
    const value = Math.max(0, ms);
    const index = Math.min(indexOf(Math.round(value * microsecondsPerMs)), this.#counts.length - 1);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#total += 1;
    if (value > this.#max) this.#max = value;
  }

  /** The smallest value in milliseconds that this share of all values does not exceed; undefined as long as there is none. */
  atShare(share: number): number | undefined {
    return this.#total === 0 ? undefined : this.#valueAt(share);
  }

  /** Undefined as long as nothing was counted. */
  percentiles(): Percentiles | undefined {
    if (this.#total === 0) return undefined;
    const at = (share: number): number => this.#valueAt(share);
    return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: inMicroseconds(this.#max) };
  }

  #valueAt(share: number): number {
    const wanted = Math.ceil(share * this.#total);
    let seen = 0;
    for (const [index, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= wanted) return Math.min(inMicroseconds(this.#max), upperEnd(index) / microsecondsPerMs);
    }
    return inMicroseconds(this.#max);
  }
}

const inMicroseconds = (ms: number): number => Math.round(ms * microsecondsPerMs) / microsecondsPerMs;

/** Whole microseconds below 128 have an index each. */
function indexOf(microseconds: number): number {
  if (microseconds < 2 * stepsPerDoubling) return microseconds;
  const doubling = Math.floor(Math.log2(microseconds / stepsPerDoubling));
  return stepsPerDoubling * doubling + Math.floor(microseconds / 2 ** doubling);
}

/** The largest value in microseconds with this index. */
function upperEnd(index: number): number {
  if (index < 2 * stepsPerDoubling) return index;
  const doubling = Math.floor(index / stepsPerDoubling) - 1;
  return (index - stepsPerDoubling * doubling + 1) * 2 ** doubling - 1;
}
