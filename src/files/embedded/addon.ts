import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { platform, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { addonAltered, addonNotLoaded } from '../errors.ts';
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
    throw addonNotLoaded(tmpdir(), error);
  } finally {
    // Windows keeps the file of a module as long as the process runs: the next process removes it.
    if (folder !== undefined && platform() !== 'win32') rmSync(folder, { recursive: true });
  }
}

/** Throws when the file is not what was built: nothing of it may run. */
function checkDigest(path: string): void {
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
  if (digest === assetText('addon.sha256')) return;
  throw addonAltered();
}

/** The start of the name of a directory that an add-on is loaded from; six random characters follow. */
export const addonFolder = 'leads-addon-';

/** Longer than it takes to load an add-on that was written; ms. */
const longestLoadMs = 60_000;

/**
 * Removes the directories, beside our own, of this user's processes that were killed while they loaded an add-on; on
 * Windows those of all that have ended, since it refuses to remove what is in use.
 */
export function removeAbandonedAddons(own: string): void {
  const { uid, mtimeMs: now } = lstatSync(own);
  for (const name of readdirSync(dirname(own))) {
    if (!name.startsWith(addonFolder) || name === basename(own)) continue;
    const folder = join(dirname(own), name);
    try {
      const found = lstatSync(folder);
      if (found.uid !== uid || now - found.mtimeMs < longestLoadMs) continue;
      rmSync(folder, { recursive: true });
    } catch {
      // In use, or removed by another process.
    }
  }
}
