import { LeadsError, type Problem } from '../errors.ts';
import { type Message, sentenceIn, type Words } from './message.ts';

const camel = (name: string): string =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
const option = (setting: string): string => camel(setting.replace(/^api\./, 'dialect.'));

const literal = (value: string): string => (/^(\d+|null|…|'.*')$/.test(value) ? value : `'${value}'`);

/** Options of a run on the command line that are members of the dialect here. */
const inDialect: readonly string[] = ['page-size'];
const runOption = (name: string): string => option(inDialect.includes(name) ? `api.${name}` : name);

/** Options of the package's entries. */
export const applicationWords: Words = {
  set: (setting, value = '…') => `${option(setting)}: ${literal(value)}`,
  get: option,
  option: (name, value) => (value === undefined ? runOption(name) : `${runOption(name)}: ${literal(value)}`),
  privateKey: 'give it in webhook.secrets',
  databasePassword: 'password and passwordFile',
  name: option,
  environment: (name) => `${name} before node starts`,
  otherKey: () => 'see apiKey',
  otherBaseUrl: (url) => `baseUrl: '${url}'`,
  quoted: (text) => text,
  learning: undefined,
  command: (line) => `leads ${line}`,
};

/**
 * The same error, with the texts that an application reads. `find`: the messages of all rooms, or of those whose code the
 * entry has loaded.
 */
export function forApplication(thrown: unknown, find: (problem: Problem) => Message | undefined): unknown {
  if (!(thrown instanceof LeadsError)) return thrown;
  forApplication(thrown.cause, find);
  const found = thrown.problem && find(thrown.problem);
  if (thrown.problem === undefined || found === undefined) return thrown;
  const message = sentenceIn(found, applicationWords);
  const stack = thrown.stack?.replace(thrown.problem.kind, () => message);
  const hidden = { configurable: true, writable: true };
  return Object.defineProperties(thrown, {
    message: { value: message, ...hidden },
    stack: { value: stack, ...hidden },
    hint: { value: found.hint?.(applicationWords), enumerable: true },
  });
}
