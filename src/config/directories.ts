import { homedir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { noHomeDirectory } from './errors.ts';

/** The directories of this program's files. Each is made, 0700, when something is first written there. */
export interface Paths {
  readonly configDir: string;
  readonly dataDir: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns the directories that `LEADS_CONFIG_DIR` and `LEADS_DATA_DIR` name, or else those of the platform. Throws a
 * `ConfigError` where one would be in the home directory, and there is no home directory.
 */
export function findPaths(env: Env, platform: string, homeOf = homeDirectory): Paths {
  const inHome = (...names: readonly string[]): string => {
    const home = homeOf(env);
    if (home === undefined) throw noHomeDirectory();
    return join(home, ...names);
  };
  // An empty variable counts as not set, as the XDG rules say.
  const variableOr = (variable: string, otherwise: () => string): string => env[variable] || otherwise();
  const darwin = {
    config: () => inHome('Library', 'Preferences', 'leads'),
    data: () => inHome('Library', 'Application Support', 'leads'),
  };
  const roaming = (): string => variableOr('APPDATA', () => inHome('AppData', 'Roaming'));
  const local = (): string => variableOr('LOCALAPPDATA', () => inHome('AppData', 'Local'));
  const win32 = {
    config: () => join(roaming(), 'leads', 'Config'),
    data: () => join(local(), 'leads', 'Data'),
  };
  const configHome = (): string => variableOr('XDG_CONFIG_HOME', () => inHome('.config'));
  const dataHome = (): string => variableOr('XDG_DATA_HOME', () => inHome('.local', 'share'));
  const linux = { config: () => join(configHome(), 'leads'), data: () => join(dataHome(), 'leads') };
  const { config, data } = { darwin, win32 }[platform] ?? linux;
  return { configDir: variableOr('LEADS_CONFIG_DIR', config), dataDir: variableOr('LEADS_DATA_DIR', data) };
}

export const configFile = (configDir: string): string => join(configDir, 'config.json');

/** The file of a profile's own inbox, which is used where no inbox is named. */
export const ownInbox = (profile: string, { dataDir }: Pick<Paths, 'dataDir'>): string =>
  join(resolve(dataDir), profile === 'default' ? 'inbox.db' : `inbox-${encodeURIComponent(profile)}.db`);

/** Undefined where nothing names one: a container may run under a user number that has no entry in passwd. */
export function homeDirectory(env: Env): string | undefined {
  try {
    // An empty HOME makes `homedir` empty, and files would be kept below the current directory.
    return env['HOME'] || homedir() || userInfo().homedir || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SYSTEM_ERROR') return undefined;
    throw error;
  }
}
