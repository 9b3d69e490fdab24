import { hintOf, sentenceOf } from './catalogue.ts';
import type { Words } from './message.ts';

/** Commands and flags. */
export const commandLineWords: Words = {
  set: (setting, value = '…') => `leads config set ${setting} ${value}`,
  get: (setting) => `leads config get ${setting}`,
  option: (name, value) => (value === undefined ? `--${name}` : `--${name} ${value}`),
  privateKey: 'give its file with --secret-file',
  command: (line) => `leads ${line}`,
};

/** What ended a run, for the person at the command line. */
export const describe = (
  thrown: unknown,
): { readonly message: string; readonly hint: string | undefined } => ({
  message: sentenceOf(thrown, commandLineWords),
  hint: hintOf(thrown, commandLineWords),
});
