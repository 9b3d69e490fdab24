import type { SandboxProblem } from '../sandbox/problems.ts';
import type { Messages } from './message.ts';

export const sandboxMessages: Messages<SandboxProblem> = {
  'unknown-fault': ({ name, known }) => ({
    message: `there is no fault '${name}'`,
    hint: () => `one of ${known.join(', ')}`,
  }),
  'fault-without-share': ({ name, share }) =>
    `the fault ${name}=${share} is not a share such as 5%, or 5%:200ms`,
  'fault-not-of-scheme': ({ scheme, fault }) => ({
    message: `the scheme '${scheme}' cannot show the fault ${fault}`,
    hint: (words) =>
      `it does not sign what that fault forges; use another ${words.option('scheme')}, or leave the fault out`,
  }),
  'not-servable': ({ number, why }) => `lead ${number} cannot be served: ${why}`,
};
