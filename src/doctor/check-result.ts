import type { LeadsError } from '../errors.ts';
import type { InboxWarning } from '../inbox/problems.ts';
import type { DoctorProblem } from './problems.ts';

export type CheckOutcome = 'pass' | 'warn' | 'fail' | 'skip';

/** A phrase without a full stop, or data that a front says in its own words, with what to do about it. */
type Found = string | DoctorProblem | InboxWarning | LeadsError;

/** How one check of `doctor` ended. */
export interface CheckResult {
  /** Stable: its group and its name, such as `service.tls`. */
  readonly name: string;
  readonly result: CheckOutcome;
  /** What was seen, or thrown. */
  readonly found: Found;
  /** What to do about it, beside a phrase. */
  readonly hint?: string | undefined;
}

/** Makes the results of one check. */
export const checkNamed = (name: string) => ({
  pass: (found: Found): CheckResult => ({ name, result: 'pass', found }),
  warn: (found: Found, hint?: string): CheckResult => ({ name, result: 'warn', found, hint }),
  fail: (found: Found, hint?: string): CheckResult => ({ name, result: 'fail', found, hint }),
  skip: (found: Found): CheckResult => ({ name, result: 'skip', found }),
});
