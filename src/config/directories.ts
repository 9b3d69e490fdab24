import { homedir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { noHomeDirectory } from './errors.ts';

/** The directories of our files. Both are made, 0700, when something is first written there. */
export interface Paths {
  readonly configDir: string;
  readonly dataDir: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Gives the usual places of the platform, unless `LEADS_CONFIG_DIR` or `LEADS_DATA_DIR` name others. Throws a `ConfigError`
 * where a place would be in the home directory, and that is missing.
 */
export function findPaths(env: Env, platform: string, homeOf = homeDirectory): Paths {
  const [config, data] = platforms[platform] ?? linux;
  const inHome = (names: readonly string[]): string => {
    const home = homeOf(env);
    if (home === undefined) throw noHomeDirectory();
    return join(home, ...names);
  };
  const placeOf = ({ variable, inHome: place, names }: UsualPlace): string =>
    join((variable && nonEmpty(env[variable])) ?? inHome(place), ...names);
  return {
    configDir: nonEmpty(env['LEADS_CONFIG_DIR']) ?? placeOf(config),
    dataDir: nonEmpty(env['LEADS_DATA_DIR']) ?? placeOf(data),
  };
}

/** Below the directory that the variable names, or below that one of the home directory. */
interface UsualPlace {
  readonly variable?: string;
  readonly inHome: readonly string[];
  readonly names: readonly string[];
}

type UsualPlaces = readonly [config: UsualPlace, data: UsualPlace];

const linux: UsualPlaces = [
  { variable: 'XDG_CONFIG_HOME', inHome: ['.config'], names: ['leads'] },
  { variable: 'XDG_DATA_HOME', inHome: ['.local', 'share'], names: ['leads'] },
];

const platforms: Readonly<Record<string, UsualPlaces>> = {
  darwin: [
    { inHome: ['Library', 'Preferences'], names: ['leads'] },
    { inHome: ['Library', 'Application Support'], names: ['leads'] },
  ],
  win32: [
    { variable: 'APPDATA', inHome: ['AppData', 'Roaming'], names: ['leads', 'Config'] },
    { variable: 'LOCALAPPDATA', inHome: ['AppData', 'Local'], names: ['leads', 'Data'] },
  ],
};

/** An empty variable counts as not set, as the XDG rules say. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

export const configFile = (configDir: string): string => join(configDir, 'config.json');

/** The file of the inbox that a profile has where none is named. */
export const ownInbox = (profile: string, { dataDir }: Pick<Paths, 'dataDir'>): string =>
  join(resolve(dataDir), profile === 'default' ? 'inbox.db' : `inbox-${encodeURIComponent(profile)}.db`);

/** Undefined where nothing names one: a container may run under a number that has no entry in passwd. */
export function homeDirectory(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    // An empty HOME makes `homedir` empty, and files would be kept below the current directory.
    return env['HOME'] || homedir() || userInfo().homedir || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SYSTEM_ERROR') return undefined;
    throw error;
  }
}
