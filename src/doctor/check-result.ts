import type { LeadsError } from '../errors.ts';
import type { InboxWarning } from '../inbox/problems.ts';
import type { DoctorProblem } from './problems.ts';

export type CheckOutcome = 'pass' | 'warn' | 'fail' | 'skip';

/** Data that a front says in its own words, with what to do about it. */
type Found = DoctorProblem | InboxWarning | LeadsError;

/** How one check of `doctor` ended. */
export interface CheckResult {
  /** Stable: its group and its name, such as `service.tls`. */
  readonly name: string;
  readonly result: CheckOutcome;
  /** What was seen, or thrown. */
  readonly found: Found;
}

/** Makes the results of one check. */
export const checkNamed = (name: string) => ({
  pass: (found: Found): CheckResult => ({ name, result: 'pass', found }),
  warn: (found: Found): CheckResult => ({ name, result: 'warn', found }),
  fail: (found: Found): CheckResult => ({ name, result: 'fail', found }),
  skip: (found: Found): CheckResult => ({ name, result: 'skip', found }),
});
