import type { CheckOutcome, CheckResult } from '../../doctor/check-result.ts';

export interface DoctorSummary extends Readonly<Record<CheckOutcome, number>> {
  /** Requests that the service was asked for its dialect. */
  readonly requests: number;
  /** Keys that `--learn` found. */
  readonly learnt: number;
  /** Keys that were written; null where nothing was to be. */
  readonly written: number | null;
}

export const countOf = (results: readonly CheckResult[], outcome: CheckOutcome): number =>
  results.filter(({ result }) => result === outcome).length;
