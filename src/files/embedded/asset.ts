import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as Sea from 'node:sea';
import { pageNotInstalled } from '../errors.ts';

/** What the executable file contains beside the program. */
export type AssetName = 'addon.node' | 'addon.sha256' | 'licences.txt' | `inspect/${PageFileName}`;

/** What the page of `leads inspect` consists of; the build writes it to dist/inspect/. */
export type PageFileName = 'index.html' | 'app.js' | 'style.css' | 'icon.svg';

/** Only for reading: a write ends the process. */
export function assetBytes(name: AssetName): Uint8Array {
  return new Uint8Array(sea().getRawAsset(name) as ArrayBuffer);
}

export function assetText(name: AssetName): string {
  return sea().getAsset(name, 'utf8');
}

/** Not every node that runs the package has this module. */
function sea(): typeof Sea {
  return createRequire(import.meta.url)('node:sea') as typeof Sea;
}

/** One file of the page of `leads inspect`. Throws a `ConfigError` where it was not built. */
export function pageFile(name: PageFileName): Uint8Array {
  if (LEADS_SINGLE_FILE) return assetBytes(`inspect/${name}`);
  const place = new URL(LEADS_PAGE_FOLDER + name, import.meta.url);
  try {
    return readFileSync(place);
  } catch (error) {
    throw pageNotInstalled(place.pathname, error);
  }
}
