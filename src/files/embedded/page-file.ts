import { readFileSync } from 'node:fs';
import { ConfigError } from '../../errors.ts';
import { assetBytes, type PageFileName } from './asset.ts';

/** One file of the page of `leads inspect`. Throws a `ConfigError` where it was not built. */
export function pageFile(name: PageFileName): Uint8Array {
  if (LEADS_SINGLE_FILE) return assetBytes(`inspect/${name}`);
  const place = new URL(LEADS_PAGE_FOLDER + name, import.meta.url);
  try {
    return readFileSync(place);
  } catch (error) {
    throw new ConfigError(`the page is not installed: cannot read ${place.pathname}`, {
      hint: 'install leads again; in a clone, run npm run build',
      cause: error,
    });
  }
}
