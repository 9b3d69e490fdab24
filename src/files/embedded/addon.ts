import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, messageOf } from '../../errors.ts';
import { addonFolder, removeAbandonedAddons } from './abandoned-addons.ts';
import { assetBytes, assetText } from './asset.ts';

let loaded: unknown;

/**
 * The database's native module, out of the executable file: libsql calls this in place of its own loader. Loaded once,
 * since two copies of SQLite in one process break each other's locks.
 */
export function load(): unknown {
  loaded ??= loadFromFile();
  return loaded;
}

/**
 * Systems load native code from files only, so it is a file while it is loaded, in a directory for this user alone.
 * Throws a `ConfigError` where the system's directory for temporary files does not allow that.
 */
function loadFromFile(): unknown {
  // Windows keeps the file of a module as long as the process runs.
  const staysInUse = platform() === 'win32';
  let folder: string | undefined;
  try {
    if (staysInUse) removeAbandonedAddons(tmpdir());
    folder = mkdtempSync(join(tmpdir(), addonFolder));
    const path = join(folder, 'libsql.node');
    writeFileSync(path, assetBytes('addon.node'), { flag: 'wx', mode: 0o500 });
    const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
    if (digest !== assetText('addon.sha256')) throw new Error('what was written there has another digest');
    return createRequire(path)(path);
  } catch (error) {
    throw new ConfigError(`cannot load the database's code from ${tmpdir()}: ${messageOf(error)}`, {
      hint: 'set TMPDIR to a directory with 10 MB to spare, on a file system that is not mounted noexec',
      cause: error,
    });
  } finally {
    if (folder !== undefined && !staysInUse) rmSync(folder, { recursive: true, force: true });
  }
}
