import { LeadsError } from '../errors.ts';
import { hintOf, sentenceOf } from './catalogue.ts';
import type { Words } from './message.ts';

const camel = (name: string): string =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
const option = (setting: string): string => camel(setting.replace(/^api\./, 'dialect.'));

/** Options of the package's entries. */
export const applicationWords: Words = {
  set: (setting, value = '…') => `${option(setting)}: ${value}`,
  get: option,
  option: (name, value) => (value === undefined ? camel(name) : `${camel(name)}: '${value}'`),
  command: (line) => `leads ${line}`,
};

/** The same error, whose message and hint are made of its problem in the words of an application. */
export function inApplicationWords(thrown: unknown): unknown {
  if (!(thrown instanceof LeadsError) || thrown.problem === undefined) return thrown;
  return Object.defineProperties(thrown, {
    message: { value: sentenceOf(thrown), configurable: true, writable: true },
    hint: { value: hintOf(thrown, applicationWords), enumerable: true, configurable: true, writable: true },
  });
}
