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
  const [config, data] = platforms[platform] ?? linux;
  const inHome = (path: readonly string[]): string => {
    const home = homeOf(env);
    if (home === undefined) throw noHomeDirectory();
    return join(home, ...path);
  };
  const directoryAt = ({ variable, homePath, names }: PlatformPlace): string =>
    join((variable && nonEmpty(env[variable])) ?? inHome(homePath), ...names);
  return {
    configDir: nonEmpty(env['LEADS_CONFIG_DIR']) ?? directoryAt(config),
    dataDir: nonEmpty(env['LEADS_DATA_DIR']) ?? directoryAt(data),
  };
}

/** The directory `names` below the one that the variable names, or else below `homePath` in the home directory. */
interface PlatformPlace {
  readonly variable?: string;
  readonly homePath: readonly string[];
  readonly names: readonly string[];
}

type PlatformPlaces = readonly [config: PlatformPlace, data: PlatformPlace];

const linux: PlatformPlaces = [
  { variable: 'XDG_CONFIG_HOME', homePath: ['.config'], names: ['leads'] },
  { variable: 'XDG_DATA_HOME', homePath: ['.local', 'share'], names: ['leads'] },
];

const platforms: Readonly<Record<string, PlatformPlaces>> = {
  darwin: [
    { homePath: ['Library', 'Preferences'], names: ['leads'] },
    { homePath: ['Library', 'Application Support'], names: ['leads'] },
  ],
  win32: [
    { variable: 'APPDATA', homePath: ['AppData', 'Roaming'], names: ['leads', 'Config'] },
    { variable: 'LOCALAPPDATA', homePath: ['AppData', 'Local'], names: ['leads', 'Data'] },
  ],
};

/** An empty variable counts as not set, as the XDG rules say. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
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
