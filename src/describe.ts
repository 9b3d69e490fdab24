import { LeadsError, messageOf, type Problem } from './errors.ts';
import { commandLine, type Front, hintFor } from './front.ts';

/** The sentence and the hint that a person at the command line reads. */
export interface Description {
  readonly message: string;
  readonly hint: string | undefined;
}

export const describe = (thrown: unknown): Description =>
  describeProblem({ message: messageOf(thrown), ...(thrown instanceof LeadsError ? thrown.details : {}) });

export const describeProblem = ({ message, option, hint }: Omit<Problem, 'kind'>): Description => ({
  message: option === undefined ? message : `${commandLine.option(option)}: ${message}`,
  hint: hintFor(hint, commandLine),
});

/** The sentence and the hint as one text, for a note while a run goes on. */
export function noteText({ message, hint }: Omit<Problem, 'kind'>, front: Front = commandLine): string {
  const advice = hintFor(hint, front);
  return advice === undefined ? message : `${message}; ${advice}`;
}
