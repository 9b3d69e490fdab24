/** What waits for its time; cancelled by `cancel`. */
export interface Scheduled {
  cancel(): void;
}

interface Entry {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** A wait or a walk that never ends shows as too many events in a short virtual time. */
export class LivelockError extends Error {
  override readonly name = 'LivelockError';
}

/** Events without the clock going on by a minute: far above what any step of a world takes. */
const mostEventsAtATime = 200_000;

/**
 * One queue for all that happens, in milliseconds of virtual time since the epoch. Between two events every promise and
 * `process.nextTick` that can go on does.
 */
export class Scheduler {
  #heap: Entry[] = [];
  #order = 0;
  #now: number;
  #minuteAt: number;
  #inThisMinute = 0;
  events = 0;

  constructor(startAt: number) {
    this.#now = startAt;
    this.#minuteAt = startAt;
  }

  get now(): number {
    return this.#now;
  }

  /** After so many milliseconds; what has the same time runs in the order in which it was asked for. */
  after(ms: number, run: () => void): Scheduled {
    return this.#at(this.#now + Math.max(0, ms), run);
  }

  /** The same of what a process does, which does nothing while it is busy: then all that came meanwhile is there. */
  afterFor(process: { readonly busyUntil?: number }, ms: number, run: () => void): Scheduled {
    let scheduled: Scheduled | undefined;
    const runOnceFree = (): void => {
      const { busyUntil = 0 } = process;
      if (busyUntil > this.#now) scheduled = this.#at(busyUntil, runOnceFree);
      else run();
    };
    scheduled = this.after(ms, runOnceFree);
    return { cancel: () => scheduled?.cancel() };
  }

  #at(time: number, run: () => void): Scheduled {
    const entry: Entry = { at: time, order: this.#order, run };
    this.#order += 1;
    push(this.#heap, entry);
    return {
      cancel: () => {
        entry.run = undefined;
      },
    };
  }

  /** The machine sleeps: what was due meanwhile runs when it wakes up. */
  suspend(ms: number): void {
    this.#now += ms;
  }

  /** Runs until that time, or until `isDone` says so between two events. */
  runUntil(time: number, isDone: () => boolean = () => false): Promise<void> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const runNext = (): void => {
        try {
          if (isOver || this.#runNext(time, isDone)) return;
          isOver = true;
          resolve();
        } catch (error) {
          isOver = true;
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const runSome = (): void => {
        if (isOver) return;
        for (let n = 1; n < eventsOfTurn; n += 1) setImmediate(runNext);
        setImmediate(runSome);
        runNext();
      };
      setImmediate(runSome);
    });
  }

  /** Runs one event; gives whether there may be another. */
  #runNext(time: number, isDone: () => boolean): boolean {
    if (isDone()) return false;
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > time) break;
      pop(this.#heap);
      const { run } = next;
      if (run === undefined) continue;
      this.#now = Math.max(this.#now, next.at);
      this.#countEvent();
      run();
      return true;
    }
    this.#now = Math.max(this.#now, time);
    return false;
  }

  #countEvent(): void {
    this.events += 1;
    if (this.#now - this.#minuteAt >= 60_000) {
      this.#minuteAt = this.#now;
      this.#inThisMinute = 0;
    }
    this.#inThisMinute += 1;
    if (this.#inThisMinute > mostEventsAtATime) throw new LivelockError('too many events within a minute');
  }
}

/** Node lets every promise and tick that can go on do so between two callbacks of `setImmediate`, and then looks for what the system has. */
const eventsOfTurn = 32;

const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const parentAt = (at - 1) >> 1;
    const parent = heap[parentAt];
    if (parent === undefined || isBefore(parent, entry)) break;
    heap[at] = parent;
    at = parentAt;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let childAt = 2 * at + 1;
    let child = heap[childAt];
    if (child === undefined) break;
    const right = heap[childAt + 1];
    if (right !== undefined && isBefore(right, child)) {
      childAt += 1;
      child = right;
    }
    if (!isBefore(child, last)) break;
    heap[at] = child;
    at = childAt;
  }
  heap[at] = last;
}
