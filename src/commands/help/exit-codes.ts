import type { ExitCode } from '../../errors.ts';

/** What the process ends with, for scripts; public API. */
export const exitCodes: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [0, 'done'],
  [1, 'a bug in leads'],
  [2, 'usage: unknown command, flag or value'],
  [3, 'configuration: no API key, base URL or profile, unreadable configuration file, too little memory'],
  [4, 'the service refused the key (401, 403)'],
  [5, 'the service could not be reached, or kept failing, or kept rate-limiting'],
  [6, "the service's answer, or an input file, is not what it must be"],
  [7, 'the command ran and found problems: show found no such lead, listen --count timed out'],
  [8, 'output could not be written: disk full, I/O error'],
  [130, 'interrupted by Ctrl-C: output is incomplete'],
  [141, 'the reader of stdout went away: output is incomplete'],
  [143, 'terminated: output is incomplete'],
];
