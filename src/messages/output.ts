import type { OutputProblem } from '../output/problems.ts';
import type { Messages } from './message.ts';

export const outputMessages: Messages<OutputProblem> = {
  'stdout-not-read': () => 'cannot write to stdout: its reader stopped reading',
  'too-many-columns': ({ most }) => ({
    message: `the leads have more than ${most} different fields`,
    hint: (words) => `name the columns with ${words.option('fields')}`,
  }),
  'jq-expression': ({ why }) => ({
    option: 'jq',
    message: why,
    hint: () => "the language is jq's; quote the expression with '…' for the shell",
  }),
  'jq-failed': ({ why, others, documents }) =>
    `jq: ${why}${others === 0 ? '' : ` (and ${others} more of ${documents} documents failed)`}`,
};
