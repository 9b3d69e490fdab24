import type { Problem } from '../errors.ts';
import { hintOf, messageFor, problemSentence, sentenceOf, warningOf } from './find-message.ts';
import { commandLine } from '../front.ts';

/** What ended a run, for the person at the command line. */
export const describe = (
  thrown: unknown,
): { readonly message: string; readonly hint: string | undefined } => ({
  message: sentenceOf(thrown, commandLine),
  hint: hintOf(thrown, commandLine),
});

/** The same of what was found without ending a run. */
export const describeProblem = (found: Problem): ReturnType<typeof describe> => ({
  message: problemSentence(found),
  hint: messageFor(found)?.hint?.(commandLine),
});

/** The same of a warning, as one text. */
export const describeWarning = (found: Problem): string => warningOf(found, commandLine);
