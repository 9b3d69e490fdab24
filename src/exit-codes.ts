import { InterruptedError, LeadsError } from './errors.ts';

export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 130 | 141 | 143;

/** How a command's run ended: `problems` means that the command worked, and found something that is not in order. */
export type Outcome = 'done' | 'problems';

/** Scripts rely on these meanings (docs/operating.md, "Exit codes"). */
export const exitCodes: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [0, 'done'],
  [1, 'a bug in leads'],
  [2, 'usage: unknown command, flag or value'],
  [3, 'configuration: no API key, base URL or profile, unreadable configuration file, too little memory'],
  [4, 'the service refused the key'],
  [5, 'the service could not be reached, or kept failing, or kept rate-limiting'],
  [6, "the service's answer, or an input file, is not what it must be"],
  [7, 'the command ran and found problems: show found no such lead, listen --count timed out'],
  [8, 'output could not be written: disk full, I/O error'],
  [130, 'interrupted by Ctrl-C: output is incomplete'],
  [141, 'the reader of stdout went away: output is incomplete'],
  [143, 'terminated: output is incomplete'],
];

export const bugHint =
  "run it again with --verbose, and report what it prints where 'npm bugs leads-cli' leads";

const exitCodeByErrorCode: Readonly<Record<string, ExitCode>> = {
  usage: 2,
  config: 3,
  key_refused: 4,
  service_unavailable: 5,
  invalid_data: 6,
  incomplete: 6,
  lead_not_found: 7,
  output: 8,
};

const exitCodeBySignal = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143, SIGPIPE: 141 } as const;

/** The only place where an exit code is picked, for a run that ended or threw. Any error but a `LeadsError` is a bug. */
export function exitCodeOf(run: { readonly outcome: Outcome } | { readonly thrown: unknown }): ExitCode {
  if ('outcome' in run) return run.outcome === 'problems' ? 7 : 0;
  const { thrown } = run;
  if (thrown instanceof InterruptedError) return exitCodeBySignal[thrown.signal];
  return (thrown instanceof LeadsError ? exitCodeByErrorCode[thrown.code] : undefined) ?? 1;
}
