import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

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
