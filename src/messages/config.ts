import type { ConfigProblem, HeaderObjection, KeyCommandFault } from '../config/problems.ts';
import { formatDuration } from '../time/time-text.ts';
import { type Messages, updateLeads, loginCommand } from './message.ts';

const inProfile = (name: string): string => (name === 'default' ? '' : ` in profile '${name}'`);

const objections: Readonly<Record<HeaderObjection, string>> = {
  name: 'is no name of a header',
  value: 'is not a text of printable ASCII characters, as the value of a header is',
  twice: 'is given twice',
  key: 'holds the API key, which is set as api-key',
  own: 'is set by leads itself',
  framing: 'belongs to the connection or says where a request ends, which leads itself decides',
  proxy: 'is for the proxy, whose URL holds the user and the password',
  session: 'is refused: a session ends and changes, and the API key says who asks',
  part: 'asks for a part of the answer, and the list would lack the rest',
};

export const configMessages: Messages<ConfigProblem> = {
  'config-unreadable': ({ path, code }) => ({
    message: `cannot read the configuration file ${path}: ${code}`,
    hint: () => (code === 'EACCES' ? 'it must belong to you' : undefined),
  }),
  'no-home-directory': () => ({
    message: 'there is no home directory to keep settings and received leads in',
    hint: () => 'set HOME, or both LEADS_CONFIG_DIR and LEADS_DATA_DIR',
  }),
  'config-of-another-user': ({ path }) => ({
    message: `${path} is a symbolic link that belongs to another user`,
    hint: () => 'remove it, or name another directory with LEADS_CONFIG_DIR',
  }),
  'config-not-json': ({ path, line, isComma }) => ({
    message: `the configuration file ${path} is not JSON in line ${line}${isComma ? ', which ends with a comma too many' : ''}`,
    hint: () => 'repair it, or move it away and log in again; leads does not overwrite it',
  }),
  'config-of-newer-version': ({ path }) => ({
    message: `the configuration file ${path} was made by a newer version of leads`,
    hint: () => updateLeads,
  }),
  'config-invalid': ({ path, at }) => ({
    message: `the configuration file ${path} is not valid${at.length === 0 ? '' : ` at '${at.join('.')}'`}`,
    hint: () => 'repair it with an editor; leads does not overwrite it',
  }),
  'not-a-base-url': ({ shown }) => `the base URL '${shown}' is not a URL that starts with https://`,
  'base-url-with-password': () => ({
    message: 'the base URL holds a user name or password',
    hint: () => 'leave it out of the URL: the API key is given and stored apart from it',
  }),
  'base-url-in-plain-http': ({ origin }) => ({
    message: `the base URL ${origin} is plain HTTP: the API key would travel unencrypted`,
    hint: () => 'use https:// (plain http:// is for loopback addresses only)',
  }),
  'no-base-url': ({ profile }) => ({
    message: `no base URL is set${inProfile(profile)}`,
    hint: () => `run '${loginCommand(profile, 'https://…')}', or set LEADS_BASE_URL`,
  }),
  'no-api-key': ({ profile }) => ({
    message: `no API key is stored${inProfile(profile)}`,
    hint: () => `run '${loginCommand(profile)}', or set LEADS_API_KEY`,
  }),
  'key-of-another-origin': ({ profile, of, origin }) => ({
    message: `the stored API key is for ${of ?? 'an unknown origin'} and is not sent to ${origin}`,
    hint: () => `run '${loginCommand(profile, origin)}', with another --profile to keep both`,
  }),
  'key-command-of-another-origin': ({ of, origin }) => ({
    message: `api-key-command is for ${of ?? 'an unknown origin'}, and its key is not sent to ${origin}`,
    hint: (words) => `run '${words.set('api-key-command')}' for it, with another --profile to keep both`,
  }),
  'headers-of-another-origin': ({ of, origin }) => ({
    message: `the headers of api.headers are for ${of ?? 'an unknown origin'} and are not sent to ${origin}`,
    hint: (words) =>
      `run '${words.command(`config set api.headers … --base-url ${origin}`)}', with another --profile to keep both, ` +
      `or '${words.command('config unset api.headers')}'`,
  }),
  'header-not-settable': ({ name, why }) =>
    `api.headers: ${why === 'name' ? 'one of the names' : `'${name}'`} ${objections[why]}`,
  'unknown-profile': ({ profile, known }) => ({
    message: `there is no profile '${profile}'`,
    hint: () => `profiles: ${known.join(', ')}; or make it with '${loginCommand(profile)}'`,
  }),
  'no-secret-given': ({ what }) => ({
    message: `no ${what} was given`,
    hint: () => 'type it, pipe it in, or name a file that holds it',
  }),
  'secret-with-blanks': ({ what }) =>
    `the ${what} holds white space or other characters that cannot be part of it`,
  'unsendable-key': ({ from }) =>
    `${from === 'environment' ? 'LEADS_API_KEY' : 'the stored API key'} holds white space or other characters that cannot be part of a key`,
  'settings-ignored': ({ names }) =>
    `the configuration file holds what this release ignores: ${names.join(', ')}`,
  'no-time-out': ({ text }) => ({
    option: 'timeout',
    message: `'${text}' is not a duration such as 500ms, 30s or 5m`,
  }),
  'no-retries': ({ text }) => ({
    option: 'retries',
    message: `'${text}' is not a whole number from 0 to 999`,
  }),
  'not-a-setting-value': ({ value, path }) => `'${value}' is not a value for ${path.join('.')}`,
  'two-keys-of-a-profile': () => ({
    message: 'api-key and api-key-command do not go together in one profile',
    hint: (words) =>
      `remove one: '${words.command('config unset api-key')}' or '${words.command('config unset api-key-command')}'`,
  }),
  'key-command-failed': ({ program, how, stderr }) => ({
    message: `api-key-command gave no key: ${keyCommandText(how)}${stderr === '' ? '' : `: ${stderr}`}`,
    hint: (words) =>
      `run '${program}' by hand as '${words.get('api-key-command')}' shows it; it must print the key and nothing else`,
  }),
};

function keyCommandText(how: KeyCommandFault): string {
  switch (how.kind) {
    case 'exited':
      return `exit ${how.status}`;
    case 'killed':
      return `ended by ${how.by}`;
    case 'not-run':
      return `it cannot be run: ${how.why}`;
    case 'not-ended':
      return `it did not end within ${formatDuration(how.afterMs)}`;
    case 'no-key-printed':
      return 'what it printed is empty, or holds characters that cannot be part of a key';
  }
}
