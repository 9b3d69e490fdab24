import type { Problem } from '../errors.ts';
import { hintOf, messageFor, problemSentence, sentenceOf, warningOf } from './find-message.ts';
import type { Words } from './message.ts';

/** Commands and flags. */
export const commandLineWords: Words = {
  set: (setting, value = '…') => `leads config set ${setting} ${value}`,
  get: (setting) => `leads config get ${setting}`,
  option: (name, value) => (value === undefined ? `--${name}` : `--${name} ${value}`),
  privateKey: 'give its file with --secret-file',
  databasePassword: 'PGPASSWORD, and PGPASSFILE or ~/.pgpass',
  name: (setting) => setting,
  environment: (name) => name,
  otherKey: (login) => `store another key with '${login}', or check LEADS_API_KEY`,
  otherBaseUrl: (_, login) => login,
  quoted: (text) => `'${text}'`,
  learning: "'leads doctor --learn' looks for a proof, or for how the service pages",
  command: (line) => `leads ${line}`,
};

/** What ended a run, for the person at the command line. */
export const describe = (
  thrown: unknown,
): { readonly message: string; readonly hint: string | undefined } => ({
  message: sentenceOf(thrown, commandLineWords),
  hint: hintOf(thrown, commandLineWords),
});

/** The same of what was found without ending a run. */
export const describeProblem = (found: Problem): ReturnType<typeof describe> => ({
  message: problemSentence(found),
  hint: messageFor(found)?.hint?.(commandLineWords),
});

/** The same of a warning, as one text. */
export const describeWarning = (found: Problem): string => warningOf(found, commandLineWords);

/** What is said while a run goes on. */
export const commandLineTexts = {
  sentenceOf: (thrown: unknown): string => sentenceOf(thrown),
  noteOf: describeWarning,
};
