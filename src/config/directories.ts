import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where files live; both directories are made, 0700, by whoever writes there first. */
export interface Paths {
  readonly configDir: string;
  readonly dataDir: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The platform's usual places, unless `LEADS_CONFIG_DIR` or `LEADS_DATA_DIR` name others. */
export function findPaths(env: Env, platform: string): Paths {
  const usual = usualPaths(env, platform, env['HOME'] ?? homedir());
  return {
    configDir: set(env['LEADS_CONFIG_DIR']) ?? usual.configDir,
    dataDir: set(env['LEADS_DATA_DIR']) ?? usual.dataDir,
  };
}

function usualPaths(env: Env, platform: string, home: string): Paths {
  if (platform === 'darwin') {
    const support = join(home, 'Library', 'Application Support', 'leads');
    return { configDir: join(home, 'Library', 'Preferences', 'leads'), dataDir: support };
  }
  if (platform === 'win32') {
    return {
      configDir: join(set(env['APPDATA']) ?? join(home, 'AppData', 'Roaming'), 'leads', 'Config'),
      dataDir: join(set(env['LOCALAPPDATA']) ?? join(home, 'AppData', 'Local'), 'leads', 'Data'),
    };
  }
  return {
    configDir: join(set(env['XDG_CONFIG_HOME']) ?? join(home, '.config'), 'leads'),
    dataDir: join(set(env['XDG_DATA_HOME']) ?? join(home, '.local', 'share'), 'leads'),
  };
}

/** An empty variable counts as not set, as the XDG rules say. */
function set(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
