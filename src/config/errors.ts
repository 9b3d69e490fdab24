import { ConfigError, UsageError } from '../errors.ts';
import { unreadable } from '../files/errors.ts';
import { loginCommand, updateLeads } from '../front.ts';

const inProfile = (name: string): string => (name === 'default' ? '' : ` in profile '${name}'`);

export const configUnreadable = (path: string, cause: NodeJS.ErrnoException) =>
  new ConfigError(unreadable(`the configuration file ${path}`, cause), {
    hint: cause.code === 'EACCES' ? 'it must belong to you' : 'name another directory with LEADS_CONFIG_DIR',
    cause,
  });

export const noHomeDirectory = () =>
  new ConfigError('there is no home directory to keep settings and received leads in', {
    hint: 'set HOME, or both LEADS_CONFIG_DIR and LEADS_DATA_DIR',
  });

export const configOfAnotherUser = (path: string) =>
  new ConfigError(`${path} is a symbolic link that belongs to another user`, {
    hint: 'remove it, or name another directory with LEADS_CONFIG_DIR',
  });

export const configNotJson = (
  path: string,
  { line, hasExtraComma }: { readonly line: number; readonly hasExtraComma: boolean },
  cause: unknown,
) =>
  new ConfigError(
    `the configuration file ${path} is not JSON in line ${line}${hasExtraComma ? ', which ends with a comma too many' : ''}`,
    { hint: 'repair it, or move it away and log in again; leads does not overwrite it', cause },
  );

export const configOfNewerVersion = (path: string) =>
  new ConfigError(`the configuration file ${path} was made by a newer version of leads`, {
    hint: updateLeads,
  });

/** `keyPath`: the names on the way to the wrong value; empty if the whole file is wrong. */
export const configInvalid = (path: string, keyPath: readonly string[], expected: string | undefined) =>
  new ConfigError(
    `the configuration file ${path} is not valid${keyPath.length === 0 ? '' : ` at '${keyPath.join('.')}'`}` +
      (expected === undefined ? '' : `, which must be ${expected}`),
    { hint: 'repair it with an editor; leads does not overwrite it' },
  );

export function invalidBaseUrl(url: string) {
  const port = Number(/(?:^|:)(\d{5,})(?=[/?#]|$)/.exec(url)?.[1]);
  const fault = port > 65_535 ? 'names a port above 65535' : 'is not a URL that starts with https://';
  return new ConfigError(`the base URL '${url}' ${fault}`);
}

export const baseUrlWithPassword = () =>
  new ConfigError('the base URL holds a user name or password', {
    hint: 'leave it out of the URL: the API key is given and stored apart from it',
  });

export const baseUrlInPlainHttp = (origin: string) =>
  new ConfigError(`the base URL ${origin} is plain HTTP: the API key would travel unencrypted`, {
    hint: 'use https:// (plain http:// is for loopback addresses only)',
  });

export const noBaseUrl = (profile: string) =>
  new ConfigError(`no base URL is set${inProfile(profile)}`, {
    hint: `run '${loginCommand(profile)}', or set LEADS_BASE_URL`,
  });

export const noApiKey = (profile: string, baseUrl: string) =>
  new ConfigError(`no API key is stored${inProfile(profile)}`, {
    kind: 'no-api-key',
    hint: `run '${loginCommand(profile, baseUrl)}', or set LEADS_API_KEY`,
  });

export const keyOfAnotherOrigin = (profile: string, storedFor: string | undefined, origin: string) =>
  new ConfigError(
    `the stored API key is for ${storedFor ?? 'an unknown origin'} and is not sent to ${origin}`,
    { hint: `run '${loginCommand(profile, origin)}', with another --profile to keep both` },
  );

export const keyCommandOfAnotherOrigin = (storedFor: string | undefined, origin: string) =>
  new ConfigError(
    `api-key-command is for ${storedFor ?? 'an unknown origin'}, and its key is not sent to ${origin}`,
    { hint: "run 'leads config set api-key-command …' for it, with another --profile to keep both" },
  );

export const headersOfAnotherOrigin = (storedFor: string | undefined, origin: string) =>
  new ConfigError(
    `the headers of api.headers are for ${storedFor ?? 'an unknown origin'} and are not sent to ${origin}`,
    {
      hint:
        `run 'leads config set api.headers … --base-url ${origin}', with another --profile to keep both, ` +
        "or 'leads config unset api.headers'",
    },
  );

export const unknownProfile = (profile: string, names: readonly string[]) =>
  new ConfigError(`there is no profile '${profile}'`, {
    hint: `profiles: ${names.join(', ')}; or make it with '${loginCommand(profile)}'`,
  });

export const unsendableKey = (source: 'LEADS_API_KEY' | 'the stored API key') =>
  new ConfigError(`${source} holds white space or other characters that cannot be part of a key`);

export const invalidTimeout = (text: string) =>
  new UsageError(`'${text}' is not a duration such as 500ms, 30s or 5m`, { option: 'timeout' });

export const invalidRetries = (text: string) =>
  new UsageError(`'${text}' is not a whole number from 0 to 999`, { option: 'retries' });

export const invalidSetting = (value: string, setting: string) =>
  new UsageError(`'${value}' is not a value for ${setting}`);

export const twoKeysOfAProfile = () =>
  new UsageError('api-key and api-key-command do not go together in one profile', {
    hint: "remove one: 'leads config unset api-key' or 'leads config unset api-key-command'",
  });

export const noSecretGiven = (label: string) =>
  new UsageError(`no ${label} was given`, { hint: 'type it, pipe it in, or name a file that holds it' });

export const secretWithBlanks = (label: string) =>
  new UsageError(`the ${label} holds white space or other characters that cannot be part of it`);
