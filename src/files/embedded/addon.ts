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
 * In the executable file, libsql calls this in place of its own loader to get its native code. The code is loaded once, since
 * two copies of SQLite in one process break each other's locks.
 */
export function load(): unknown {
  loaded ??= loadFromFile();
  return loaded;
}

/**
 * Systems load native code only from files, so the code is a file during the load, in a directory for this user alone. Throws
 * a `ConfigError` where the system's directory for temporary files does not allow that.
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
    // Windows refuses to remove a file in use, so there a later process removes it.
    if (folder !== undefined && platform() !== 'win32') rmSync(folder, { recursive: true });
  }
}

/** A module that differs from the build must not run. */
function checkDigest(path: string): void {
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
  if (digest === assetText('addon.sha256')) return;
  throw addonAltered();
}

export const addonFolder = 'leads-addon-';

const longestLoadMs = 60_000;

/** Removes older directories of this user: of processes that were killed during a load, and on Windows of all that have ended. */
export function removeAbandonedAddons(currentFolder: string): void {
  const { uid, mtimeMs: now } = lstatSync(currentFolder);
  for (const name of readdirSync(dirname(currentFolder))) {
    if (!name.startsWith(addonFolder) || name === basename(currentFolder)) continue;
    const folder = join(dirname(currentFolder), name);
    try {
      const stat = lstatSync(folder);
      if (stat.uid !== uid || now - stat.mtimeMs < longestLoadMs) continue;
      rmSync(folder, { recursive: true });
    } catch {
      // It is in use, or another process removed it.
    }
  }
}
