import type { LeadsError, Problem } from '../errors.ts';

export type CheckOutcome = 'pass' | 'warn' | 'fail' | 'skip';

export interface CheckResult {
  /** Stable: its group and its name, such as `service.tls`. */
  readonly name: string;
  readonly result: CheckOutcome;
  /** A sentence, or what another room reported or threw, for which the command has the words. */
  readonly detail: string | Problem | LeadsError;
  readonly hint?: string | undefined;
}

const resultOf =
  (result: CheckOutcome) =>
  (name: string, detail: CheckResult['detail'], hint?: string): CheckResult => ({
    ...{ name, result, detail, hint },
  });

export const pass = resultOf('pass');
export const warn = resultOf('warn');
export const fail = resultOf('fail');
export const skip = resultOf('skip');
