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
  /**
   * Told, once for each cause, what is no error and yet worth a line in a log, as a sentence: that the service lists leads of
   * another status than the one that was asked for, that its one answer counts as everything, that it makes us wait for more
   * than 3 s. What it throws ends the iteration.
   */
  readonly onNote?: ((note: string) => void) | undefined;
  /**
   * Goes on where an earlier iteration with the same client options and filter was interrupted; null: from the start. From the
   * checkpoint of one that was complete nothing comes.
   */
  readonly from?: Checkpoint | null | undefined;
}
