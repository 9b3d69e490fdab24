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
