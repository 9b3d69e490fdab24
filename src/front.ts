/**
 * A way to use this program, and its names for what the user sets: the command line has commands and flags, the library has
 * options. An error does not know through which of them it is read, so its hint is a function of the front.
 */
export interface Front {
  /** How to give a setting a value: `'leads config set api.items data'`, or `dialect.items: 'data'`. Default value: `…`. */
  set(setting: string, value?: string): string;
  /** How to see a setting's value: `'leads config get base-url'`, or `baseUrl`. */
  get(setting: string): string;
  /** An option of the run: `--accept-incomplete`, or `acceptIncomplete`. */
  option(name: string, value?: string): string;
  /** How to give another API key, or another base URL. `login` is the command that stores it. */
  otherKey(login: string): string;
  otherBaseUrl(url: string, login: string): string;
  /** Advice to run the command that finds out how a service pages; undefined in the library, which does not use its result. */
  readonly learning: string | undefined;
}

/** Advice for the user, in one sentence; a function where the fronts say it differently. */
export type Hint = string | ((front: Front) => string | undefined);

export const hintFor = (hint: Hint | undefined, front: Front): string | undefined =>
  typeof hint === 'function' ? hint(front) : hint;

export const commandLine: Front = {
  set: (setting, value = '…') => `'leads config set ${setting} ${value}'`,
  get: (setting) => `'leads config get ${setting}'`,
  option: (name, value) => (value === undefined ? `--${name}` : `--${name} ${value}`),
  otherKey: (login) => `store another key with '${login}', or check LEADS_API_KEY`,
  otherBaseUrl: (_, login) => login,
  learning: "'leads doctor --learn' looks for how the service pages",
};

/** `leads config get` does not show a base URL that is typed or in the environment: hints name where that came from. */
export function commandLineFor(
  isUrlTyped: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Front {
  const urlSource = isUrlTyped ? '--base-url' : env['LEADS_BASE_URL'] && 'LEADS_BASE_URL';
  return {
    ...commandLine,
    get: (setting) => (setting === 'base-url' && urlSource) || commandLine.get(setting),
  };
}

/** Returns `pageSize` for `page-size`, as the configuration file and the command line spell it. */
export const camelCase = (name: string): string =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
const libraryOption = (setting: string): string => camelCase(setting.replace(/^api\./, 'dialect.'));

/** Returns a value as JavaScript code. An empty text, which a shell needs in quotes, and the placeholder `…` stay as they are. */
const literal = (value: string): string => (/^(\d+|null|…|"")$/.test(value) ? value : `'${value}'`);

/** In the library, the flag `--page-size` is a member of the dialect. */
const runOption = (name: string): string => libraryOption(name === 'page-size' ? 'api.page-size' : name);

export const library: Front = {
  set: (setting, value = '…') => `${libraryOption(setting)}: ${literal(value)}`,
  get: libraryOption,
  option: (name, value) => (value === undefined ? runOption(name) : `${runOption(name)}: ${literal(value)}`),
  otherKey: () => 'see apiKey',
  otherBaseUrl: (url) => `baseUrl: '${url}'`,
  learning: undefined,
};

/** The hint for a file that a newer release has written. */
export const updateLeads =
  "update leads: 'npm install leads-cli@latest', with --global where it was installed so";

/** The command that stores a key in a profile, for hints: `leads login --base-url https://… --profile big`. */
export function loginCommand(profile: string | undefined, baseUrl?: string): string {
  // A query may hold a credential.
  const address = baseUrl === undefined ? 'https://…' : shellWord(baseUrl.replace(/\/?([?#].*)?$/s, ''));
  const command = `leads login --base-url ${address}`;
  return profile === undefined || profile === 'default'
    ? command
    : `${command} --profile ${shellWord(profile)}`;
}

/**
 * Quotes a word for sh, bash and zsh where it needs quotes: in single quotes no character has a meaning. At the beginning of a
 * word, the shells expand `~`, and zsh expands `=`.
 */
export const shellWord = (text: string): string =>
  /^[\w./@%+:,-][\w./@%+:,=~-]*$/.test(text) ? text : singleQuoted(text);

export const singleQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
