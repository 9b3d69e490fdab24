import { DataError } from '../../errors.ts';
import { howToSet } from './evidence/completion.ts';

/** Fails a walk that makes no progress: the same position again, or a page that brings nothing new (promise: no loop). */
export class LoopGuard {
  readonly #positions = new Set<string>();
  #empty = 0;

  /** Throws when the service names a position that was walked before. */
  enter(key: string): void {
    if (this.#positions.has(key)) {
      throw new DataError('the service names a page as the next one that was read before', {
        hint: howToSet,
      });
    }
    this.#positions.add(key);
  }

  /** Forgets the positions: the list is walked again. */
  reset(): void {
    this.#positions.clear();
  }

  /** Empty pages may stand in the middle of a list, but not without end. */
  countRecords(records: number, pages: number): void {
    this.#empty = records === 0 ? this.#empty + 1 : 0;
    if (this.#empty > 1000) {
      throw new DataError(`the service sends one empty page after another (${pages} pages read)`);
    }
  }
}
