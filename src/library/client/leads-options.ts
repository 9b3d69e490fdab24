import type { Checkpoint } from './lead-checkpoint.ts';

/** How one iteration runs. */
export interface LeadsOptions {
  /** Ends the iteration with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Takes what there is for everything where the service does not show that it is: no `IncompleteError` then. A function
   * is given what was seen, as a sentence.
   */
  readonly acceptIncomplete?: boolean | ((why: string) => void) | undefined;
  /** Goes on where an earlier iteration with the same client options and filter was interrupted; null: from the start. */
  readonly from?: Checkpoint | null | undefined;
}
