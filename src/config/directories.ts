import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Where files are kept. Both directories are made, 0700, when something is first written there. */
export interface Paths {
  readonly configDir: string;
  readonly dataDir: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The platform's usual places, unless `LEADS_CONFIG_DIR` or `LEADS_DATA_DIR` name others. */
export function findPaths(env: Env, platform: string): Paths {
  const usual = usualPaths(env, platform, env['HOME'] ?? homedir());
  return {
    configDir: nonEmpty(env['LEADS_CONFIG_DIR']) ?? usual.configDir,
    dataDir: nonEmpty(env['LEADS_DATA_DIR']) ?? usual.dataDir,
  };
}

function usualPaths(env: Env, platform: string, home: string): Paths {
  if (platform === 'darwin') {
    const support = join(home, 'Library', 'Application Support', 'leads');
    return { configDir: join(home, 'Library', 'Preferences', 'leads'), dataDir: support };
  }
  if (platform === 'win32') {
    return {
      configDir: join(nonEmpty(env['APPDATA']) ?? join(home, 'AppData', 'Roaming'), 'leads', 'Config'),
      dataDir: join(nonEmpty(env['LOCALAPPDATA']) ?? join(home, 'AppData', 'Local'), 'leads', 'Data'),
    };
  }
  return {
    configDir: join(nonEmpty(env['XDG_CONFIG_HOME']) ?? join(home, '.config'), 'leads'),
    dataDir: join(nonEmpty(env['XDG_DATA_HOME']) ?? join(home, '.local', 'share'), 'leads'),
  };
}

/** An empty variable counts as not set, as the XDG rules say. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** Apart from what reads it, so that completion loads no more than the name. */
export const configFile = (configDir: string): string => join(configDir, 'config.json');

/** The file of the inbox that a profile has where none is named. */
export const ownInbox = (profile: string, { dataDir }: Pick<Paths, 'dataDir'>): string =>
  join(resolve(dataDir), profile === 'default' ? 'inbox.db' : `inbox-${encodeURIComponent(profile)}.db`);
