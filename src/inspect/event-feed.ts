import { setMaxListeners } from 'node:events';
import type { BodyWriter } from '../http/server/send-answer.ts';
import { describe } from '../messages/command-line.ts';
import type { Arrived, InboxQueries } from './queries/query-types.ts';
import type { WireEvent, WireRow } from './wire.ts';

/** Between two looks at the inbox, in milliseconds: while nobody wakes it, and at the least, since each one costs a receiver. */
const everyMs = 200;
const shortestMs = 200;

/** Streams at one time: a browser has one for each tab that is shown. */
const mostStreams = 64;

/**
 * Tells any number of streams what is new in an inbox. It looks at the inbox as long as there is a stream, and what
 * knows of an arrival may wake it earlier. What one stream asks for, the others at the same place share.
 */
export class EventFeed {
  readonly #queries: Pick<InboxQueries, 'since' | 'changes'>;
  readonly #streams = new Set<EventStreamWriter>();
  #problem: string | null = null;
  #loop: Promise<void> | undefined;
  #reserved = 0;
  readonly #touched = new Set<number>();
  readonly #stop = new AbortController();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;
  readonly #steady: () => number;

  /** `steady`: milliseconds of a clock that nobody sets. */
  constructor(queries: Pick<InboxQueries, 'since' | 'changes'>, steady: () => number) {
    this.#queries = queries;
    this.#steady = steady;
    // Every stream listens to it.
    setMaxListeners(0, this.#stop.signal);
  }

  /** Keeps a place for one stream, which must follow; false where there is none. */
  reserve(): boolean {
    if (this.#streams.size + this.#reserved >= mostStreams) return false;
    this.#reserved += 1;
    return true;
  }

  /** For a stream that has a place. Resolves when it ended, or the feed was closed. */
  async follow(stream: EventStreamWriter, signal: AbortSignal): Promise<void> {
    this.#reserved -= 1;
    this.#streams.add(stream);
    if (this.#problem !== null) stream.inboxIs(this.#problem);
    this.#loop ??= this.#run();
    const { signal: stopped } = this.#stop;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end);
        stopped.removeEventListener('abort', end);
        resolve();
      };
      signal.addEventListener('abort', end);
      stopped.addEventListener('abort', end);
      if (signal.aborted || stopped.aborted) end();
    });
    this.#streams.delete(stream);
  }

  /** A delivery changed, such as by a replay. */
  touch(seq: number): void {
    if (this.#streams.size === 0) return;
    this.#touched.add(seq);
    this.wake();
  }

  /** Something was stored: looks as soon as it may. */
  wake(): void {
    this.#wake?.();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (this.#streams.size > 0 && !signal.aborted) {
      this.#lookedAt = this.#steady();
      await this.#look();
      await this.#pause();
    }
    this.#loop = undefined;
  }

  /** Until something is stored, but not for less than the shortest time, and not for longer than others may be unseen. */
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      let timer = setTimeout(end, everyMs);
      let isWoken = false;
      this.#wake = () => {
        const isOver = this.#stop.signal.aborted;
        if (isWoken && !isOver) return;
        isWoken = true;
        const left = isOver ? 0 : this.#lookedAt + shortestMs - this.#steady();
        clearTimeout(timer);
        if (left <= 0) end();
        else timer = setTimeout(end, left);
      };
    });
  }

  async #look(): Promise<void> {
    try {
      const { newestSeq, changed, isRemoved } = await this.#queries.changes(this.#takeTouched());
      const shared = new Map<number, Promise<Arrived>>();
      for (const stream of this.#streams) {
        stream.changed(changed);
        if (isRemoved || stream.after > newestSeq) stream.removed(newestSeq);
        if (stream.isBehind || !stream.canArrive(newestSeq)) continue;
        const { after } = stream;
        const arrived = shared.get(after) ?? this.#queries.since(after);
        shared.set(after, arrived);
        stream.arrived(await arrived);
      }
      this.#inboxIs(null);
    } catch (error) {
      this.#inboxIs(describe(error).message);
    }
    for (const stream of this.#streams) stream.writeNext();
  }

  #takeTouched(): readonly number[] {
    const touched = [...this.#touched];
    this.#touched.clear();
    return touched;
  }

  #inboxIs(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    for (const stream of this.#streams) stream.inboxIs(problem);
  }
}

/** Changed rows that wait for a reader that is slow; of more it is told to look for itself. */
const mostWaiting = 200;

/**
 * So often at the most a page is told to read everything again, in milliseconds: of a flood of rejected deliveries only the
 * newest stay, so that some are dropped all the time.
 */
const removedEveryMs = 2_000;

/** A stream on which nothing happens shows so often that it lives, in milliseconds. */
const silentMs = 1_000;

/**
 * One stream of events: one line at a time, and none while its reader is behind. What waits for it is bounded: arrivals
 * are read again from where it stopped, changed rows replace each other.
 */
export class EventStreamWriter {
  readonly #writer: BodyWriter;
  readonly #steady: () => number;
  readonly #changed = new Map<number, WireRow>();
  #after: number;
  #arrived: Arrived | undefined;
  #isRemoved = false;
  #removedAt = Number.NEGATIVE_INFINITY;
  #problem: { readonly problem: string | null } | undefined;
  #wroteAt: number;
  #lastType: WireEvent['type'] | undefined;

  /** `after`: the number that its reader has had. `steady`: milliseconds of a clock that nobody sets. */
  constructor(writer: BodyWriter, after: number, steady: () => number) {
    this.#writer = writer;
    this.#after = after;
    this.#steady = steady;
    this.#wroteAt = steady();
  }

  get after(): number {
    return this.#after;
  }

  /** Its reader has not read what was written. */
  get isBehind(): boolean {
    return this.#writer.writableNeedDrain;
  }

  /** Whether it is to be given what came behind `after`. */
  canArrive(newestSeq: number): boolean {
    return this.#arrived === undefined && newestSeq > this.#after;
  }

  arrived(arrived: Arrived): void {
    this.#after = Math.max(this.#after, arrived.newestSeq);
    if (arrived.rows.length > 0) this.#arrived = arrived;
  }

  changed(rows: readonly WireRow[]): void {
    for (const row of rows) this.#changed.set(row.seq, row);
    if (this.#changed.size <= mostWaiting) return;
    this.#changed.clear();
    this.#isRemoved = true;
  }

  /** `newestSeq`: less than it was where the inbox is another one. */
  removed(newestSeq: number): void {
    this.#isRemoved = true;
    this.#after = Math.min(this.#after, newestSeq);
  }

  inboxIs(problem: string | null): void {
    this.#problem = { problem };
  }

  /** Writes one line of what waits, of another kind than the last one where there is one. */
  writeNext(): void {
    if (this.isBehind) return;
    const now = this.#steady();
    const event = this.#next(now);
    if (event === undefined && now - this.#wroteAt < silentMs) return;
    this.#wroteAt = now;
    this.#lastType = event?.type;
    this.#writer.write(event === undefined ? '\n' : `${JSON.stringify(event)}\n`);
  }

  #next(now: number): WireEvent | undefined {
    if (this.#problem !== undefined) {
      const { problem } = this.#problem;
      this.#problem = undefined;
      return { type: 'inbox', problem };
    }
    if (this.#isRemoved && now - this.#removedAt >= removedEveryMs) {
      this.#isRemoved = false;
      this.#removedAt = now;
      return { type: 'removed' };
    }
    const arrived = this.#arrived;
    const hasChanged = this.#changed.size > 0;
    if (arrived !== undefined && (this.#lastType !== 'deliveries' || !hasChanged)) {
      this.#arrived = undefined;
      // What is told now is newer than what waited.
      for (const { seq } of arrived.rows) this.#changed.delete(seq);
      return { type: 'deliveries', ...arrived };
    }
    if (!hasChanged) return undefined;
    const rows = [...this.#changed.values()];
    this.#changed.clear();
    return { type: 'changed', rows };
  }
}
