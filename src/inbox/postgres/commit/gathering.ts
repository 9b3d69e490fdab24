import type { Clock } from '../../../time/clock.ts';

/** Of the time that the transaction before took. */
const share = 0.5;

/** In milliseconds. */
const longest = 20;
const shortest = 1;

/**
 * The pause between two transactions of one lane, in which those that were just answered come again: while other
 * receivers write to the same database, many small transactions would cost all of them more time than one pause.
 */
export class Gathering {
  readonly #clock: Pick<Clock, 'sleep'>;
  #enough = 0;
  #end: AbortController | undefined;

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  /** Resolves when `enough` works wait, or after a share of `tookMs`, the time of the last transaction. */
  async wait(enough: number, tookMs: number): Promise<void> {
    const ms = Math.min(tookMs * share, longest);
    if (ms < shortest) return;
    const end = new AbortController();
    this.#enough = enough;
    this.#end = end;
    await this.#clock.sleep(ms, end.signal).catch((error: unknown) => {
      if (!end.signal.aborted) throw error;
    });
    this.#end = undefined;
  }

  /** So many wait now. */
  waiting(works: number): void {
    if (works >= this.#enough) this.#end?.abort();
  }
}
