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

/** Makes the results of one check. */
export const checkNamed = (name: string) => ({
  pass: (detail: string): CheckResult => ({ name, result: 'pass', detail }),
  warn: (detail: string, hint?: string): CheckResult => ({ name, result: 'warn', detail, hint }),
  fail: (detail: string, hint?: string): CheckResult => ({ name, result: 'fail', detail, hint }),
  skip: (detail: string, hint?: string): CheckResult => ({ name, result: 'skip', detail, hint }),
});
