import { KeyRejectedError, LeadsError } from '../../errors.ts';
import { forApplication } from '../../messages/application.ts';
import { messageFor } from '../../messages/catalogue.ts';

/** Words of the program's hints and notes, and what an application writes in their place. */
const words: readonly (readonly [program: RegExp, application: string])[] = [
  [/'?leads config (?:set|get) api\.([\w.]+)( '[^']*'| [^\s',;]+)?'?/g, 'dialect.$1$2'],
  [/'?api\.(params|items|item|path|pagination)\b([^']*)'?/g, 'dialect.$1$2'],
  [/see '?leads config get base-url'?/gi, 'see baseUrl'],
  [/'?leads config get base-url'?/g, 'baseUrl'],
  [/'?leads login --base-url (\S+?)'?$/g, "baseUrl: '$1'"],
  [/--accept-incomplete/g, 'acceptIncomplete'],
  [/--where (\S+)/g, "where: '$1'"],
  [/a larger --page-size/g, 'a larger dialect.pageSize'],
  [/NODE_EXTRA_CA_CERTS/g, 'NODE_EXTRA_CA_CERTS before node starts'],
];

/** The same error, with hints that name options of the client in place of the program's commands and flags. */
export function clientError(error: unknown): unknown {
  if (!(error instanceof LeadsError)) return error;
  clientError(error.cause);
  forApplication(error, messageFor);
  const said = error.problem === undefined ? error.hint && inApplicationWords(error.hint) : error.hint;
  const hint = error instanceof KeyRejectedError ? 'see apiKey' : said;
  return Object.defineProperty(error, 'hint', { value: hint, enumerable: true });
}

export const inApplicationWords = (text: string): string =>
  words.reduce((changed, [program, application]) => changed.replace(program, application), text);
