import type { CheckProblem } from '../check/problems.ts';
import { formatDuration } from '../time/time-text.ts';
import type { Messages } from './message.ts';

const sinceProbe = (since: string | undefined): string => (since === undefined ? '' : ` since ${since}`);

/** Of the command line alone: a check is no part of the library. */
export const checkMessages: Messages<CheckProblem> = {
  'receiver-restarted': () => 'the receiver was away, and came back',
  'receiver-dead': ({ since }) => `the receiver no longer answers${sinceProbe(since)}`,
  'receiver-failing': ({ since }) => `the receiver answers a genuine lead with an error${sinceProbe(since)}`,
  'nothing-acknowledged': ({ probe }) => `no genuine delivery is acknowledged (${probe})`,
  'run-over': () => 'the time of the whole run was up',
  'probe-too-slow': ({ ms }) => `it took longer than ${formatDuration(ms)}`,
  'probe-connection-failed': ({ code }) => `the connection failed (${code})`,
  'no-credential-sent': () => 'no credential is sent (--no-verify)',
  'credential-needed': () => 'this delivery carries no credential: give --token, or --scheme and --secret',
  'oracle-needed': () => 'it needs --oracle',
  'oracle-says-nothing': () => 'give --oracle CMD: it gets LEAD_ID and prints how many such leads are stored',
  'rate-limited-probe': () => 'raise the rate limit for this run, or run fewer probes with --only',
  'writes-not-allowed': () => 'it stores leads, or may stop a weak receiver: --allow-writes',
  'pattern-without-probe': ({ option, pattern }) => ({
    message: `--${option} '${pattern}' matches no probe`,
    hint: (words) => `'${words.command('check --list')}' shows their names`,
  }),
  'no-probe-left': () => '--only and --skip leave no probe',
  'baseline-missing': ({ path }) => ({
    message: `there is no baseline in ${path}`,
    hint: (words) => `write it with ${words.option('write-baseline', path)}`,
  }),
};
