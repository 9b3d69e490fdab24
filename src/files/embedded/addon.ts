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
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), addonFolder));
    removeAbandonedAddons(folder);
    const path = join(folder, 'libsql.node');
    writeFileSync(path, assetBytes('addon.node'), { flag: 'wx', mode: 0o500 });
    checkDigest(path);
    return createRequire(path)(path);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`cannot load the database's code from ${tmpdir()}: ${messageOf(error)}`, {
      hint: 'set TMPDIR to a directory with 10 MB to spare, on a file system that is not mounted noexec',
      cause: error,
    });
  } finally {
    // Windows keeps the file of a module as long as the process runs: the next process removes it.
    if (folder !== undefined && platform() !== 'win32') rmSync(folder, { recursive: true });
  }
}

/** Throws when the file is not what was built: nothing of it may run. */
function checkDigest(path: string): void {
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
  if (digest === assetText('addon.sha256')) return;
  throw new ConfigError("the database's code has another digest than when it was built", {
    hint: 'the executable file may be damaged: copy or build it again',
  });
}
