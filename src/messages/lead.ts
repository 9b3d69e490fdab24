import type { LeadProblem } from '../lead/problems.ts';
import type { Messages } from './message.ts';

export const leadMessages: Messages<LeadProblem> = {
  'condition-without-order': ({ text, operator }) => ({
    message: `the condition '${text}' needs a number or a time after '${operator}'`,
    hint: () => 'such as 10, 2026-01-31, yesterday or 7d',
  }),
};
