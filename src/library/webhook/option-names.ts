import { ConfigError, LeadsError, messageOf } from '../../errors.ts';

/**
 * A message in which flags of the CLI are named as the options that they are here: `--lead-at` is `leadAt`. A command to be
 * run, such as `'leads inbox recover --inbox FILE'`, stays as it is.
 */
export const withOptionNames = (text: string): string =>
  text.replace(/'leads [^']*'|--([a-z]+(?:-[a-z0-9]+)*)/g, (found, name?: string) =>
    name === undefined ? found : name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
  );

/** The same error, whose text names options. */
export const nameOptions = ({ message, hint, cause }: LeadsError): ConfigError =>
  new ConfigError(withOptionNames(message), {
    hint: hint === undefined ? undefined : withOptionNames(hint),
    cause,
  });

/** Message and hint as one text. */
export const withHint = ({ message, hint }: Pick<LeadsError, 'message' | 'hint'>): string =>
  hint === undefined ? message : `${message}. ${hint}`;

/** For the console. Of an error of the application its stack, which says where; no property of it, which may be a secret. */
export function errorText(error: unknown): string {
  if (error instanceof LeadsError) return withHint(error);
  return error instanceof Error && error.stack !== undefined ? error.stack : messageOf(error);
}
