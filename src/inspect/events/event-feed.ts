import { setMaxListeners } from 'node:events';
import { messageOf } from '../../errors.ts';
import type { Arrived, Reads } from '../reads/reads.ts';
import type { EventStreamWriter } from './event-stream-writer.ts';

/** Between two looks at the inbox, in milliseconds: while nobody wakes it, and at the least, since each one costs a receiver. */
const everyMs = 200;
const shortestMs = 200;

/** Streams at one time: a browser has one for each tab that is shown. */
const mostStreams = 64;

/**
 * Tells any number of streams what is new in an inbox. It looks at the inbox as long as there is a stream, and whoever
 * knows of an arrival may wake it earlier. What one stream asks for, the others at the same place share.
 */
export class EventFeed {
  readonly #reads: Pick<Reads, 'since' | 'changes'>;
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
  constructor(reads: Pick<Reads, 'since' | 'changes'>, steady: () => number) {
    this.#reads = reads;
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
      const { newestSeq, changed, isRemoved } = await this.#reads.changes(this.#takeTouched());
      const shared = new Map<number, Promise<Arrived>>();
      for (const stream of this.#streams) {
        stream.changed(changed);
        if (isRemoved || stream.after > newestSeq) stream.removed(newestSeq);
        if (stream.isBehind || !stream.canArrive(newestSeq)) continue;
        const { after } = stream;
        const arrived = shared.get(after) ?? this.#reads.since(after);
        shared.set(after, arrived);
        stream.arrived(await arrived);
      }
      this.#inboxIs(null);
    } catch (error) {
      this.#inboxIs(messageOf(error));
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
