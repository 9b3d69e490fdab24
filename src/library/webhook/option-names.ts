import { ConfigError, LeadsError } from '../../errors.ts';

/** A message in which flags of the CLI are named as the options that they are here: `--lead-at` is `leadAt`. */
export const withOptionNames = (text: string): string =>
  text.replace(/--([a-z]+(?:-[a-z0-9]+)*)/g, (_, name: string) =>
    name.replace(/-([a-z0-9])/g, (__, letter: string) => letter.toUpperCase()),
  );

/** Runs what reads options, whose `ConfigError`s and `UsageError`s name flags. */
export function namingOptions<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof LeadsError ? nameOptions(error) : error;
  }
}

/** The same error, whose text names options. */
export const nameOptions = ({ message, hint, cause }: LeadsError): ConfigError =>
  new ConfigError(withOptionNames(message), {
    hint: hint === undefined ? undefined : withOptionNames(hint),
    cause,
  });
