import type { BodyWriter } from '../../http/server/request/send-answer.ts';
import type { Arrived } from '../reads/reads.ts';
import type { WireEvent, WireRow } from '../wire.ts';

/** Changed rows that wait for a reader that is slow; of more it is told to look for itself. */
const mostWaiting = 200;

/**
 * So often at the most a page is told to read everything again, in milliseconds: of a flood of rejected deliveries only the
 * newest stay, so that some are dropped all the time.
 */
const removedEveryMs = 2_000;

/** A stream on which nothing happens shows so often that it lives, in milliseconds. */
const silentMs = 5_000;

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
