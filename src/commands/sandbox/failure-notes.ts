import { explainFailure } from '../../sender/explain-failure.ts';
import type { RecordedAttempt } from '../../sandbox/deliveries/recorded-attempt.ts';

/**
 * Tells of a target that has acknowledged nothing so far, at the first failure and once for each cause. Forged attempts
 * do not count: a receiver is right to reject them.
 */
export class FailureNotes {
  readonly #note: (cause: string, text: string) => void;
  readonly #reached = new Set<string>();
  /** Attempts that were over before the sandbox was announced; undefined from then on. */
  #early: RecordedAttempt[] | undefined = [];

  constructor(note: (cause: string, text: string) => void) {
    this.#note = note;
  }

  add(attempt: RecordedAttempt): void {
    if (this.#early === undefined) this.#tell(attempt);
    else this.#early.push(attempt);
  }

  /** The notes that were held back until now, so that they follow the announcement. */
  start(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const attempt of early) this.#tell(attempt);
  }

  #tell({ target, outcome, forged, status, error }: RecordedAttempt): void {
    if (outcome === 'acknowledged') this.#reached.add(target);
    if (outcome === 'acknowledged' || outcome === 'dropped' || forged || this.#reached.has(target)) return;
    this.#note(
      `delivery to ${target}: ${status ?? error ?? ''}`,
      `no delivery to ${target} was acknowledged so far: ${explainFailure({ status, error })}`,
    );
  }
}
