import type { Problem } from '../errors.ts';

export type CheckOutcome = 'pass' | 'warn' | 'fail' | 'skip';

/** How one check of `doctor` ended. */
export interface CheckResult {
  /** Stable: its group and its name, such as `service.tls`. */
  readonly name: string;
  readonly result: CheckOutcome;
  /** What was seen, as a phrase without a full stop. */
  readonly detail: string;
  /** What to do about it. */
  readonly hint?: string | undefined;
}

/** How a front says what was thrown, and what it warns of. */
export interface ErrorTexts {
  describe(thrown: unknown): { readonly message: string; readonly hint: string | undefined };
  describeWarning(found: Problem): string;
}

/** Makes the results of one check. */
export const checkNamed = (name: string) => ({
  pass: (detail: string): CheckResult => ({ name, result: 'pass', detail }),
  warn: (detail: string, hint?: string): CheckResult => ({ name, result: 'warn', detail, hint }),
  fail: (detail: string, hint?: string): CheckResult => ({ name, result: 'fail', detail, hint }),
  /** Fails with what was thrown. */
  failedBy(thrown: unknown, { describe }: Pick<ErrorTexts, 'describe'>): CheckResult {
    const { message, hint } = describe(thrown);
    return { name, result: 'fail', detail: message, hint };
  },
  skip: (detail: string, hint?: string): CheckResult => ({ name, result: 'skip', detail, hint }),
});
