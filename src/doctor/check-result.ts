import { describeProblem, LeadsError, type Problem } from '../errors.ts';
import type { Hint } from '../front.ts';

export type CheckOutcome = 'pass' | 'warn' | 'fail' | 'skip';

export interface CheckResult {
  /** Stable: its group and its name, such as `service.tls`. */
  readonly name: string;
  readonly result: CheckOutcome;
  readonly detail: string;
  readonly hint: Hint | undefined;
}

/** The detail is a sentence, or a problem or an error that has its own hint; a check that passes needs none. */
const resultWith =
  (result: CheckOutcome) =>
  (name: string, detail: string | Problem | LeadsError, hint?: Hint): CheckResult => {
    if (typeof detail === 'string')
      return { name, result, detail, hint: result === 'pass' ? undefined : hint };
    const problem = detail instanceof LeadsError ? { message: detail.message, ...detail.details } : detail;
    return { name, result, detail: describeProblem(problem).message, hint: problem.hint };
  };

export const pass = resultWith('pass');
export const warn = resultWith('warn');
export const fail = resultWith('fail');
export const skip = resultWith('skip');
