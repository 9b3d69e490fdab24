import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The start of the name of a directory that an add-on is loaded from; six random characters follow. */
export const addonFolder = 'leads-addon-';

/** Longer than it takes to load an add-on that was written; ms. */
const longestLoadMs = 60_000;

/** Removes the add-ons of processes that have ended. Windows refuses to remove those that are in use. */
export function removeAbandonedAddons(temporaryFolder: string): void {
  for (const name of readdirSync(temporaryFolder)) {
    if (!name.startsWith(addonFolder)) continue;
    const folder = join(temporaryFolder, name);
    try {
      if (Date.now() - statSync(folder).mtimeMs < longestLoadMs) continue;
      rmSync(folder, { recursive: true });
    } catch {
      // In use, or removed by another process.
    }
  }
}
