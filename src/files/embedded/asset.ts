import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as Sea from 'node:sea';
import { pageNotInstalled } from '../errors.ts';

export type AssetName = 'addon.node' | 'addon.sha256' | 'licences.txt' | `inspect/${PageFileName}`;

export type PageFileName = 'index.html' | 'app.js' | 'app.css' | 'icon.svg';

/** Returns bytes of the executable file itself. They are for reading alone: a write ends the process. */
export function assetBytes(name: AssetName): Uint8Array {
  return new Uint8Array(sea().getRawAsset(name) as ArrayBuffer);
}

export function assetText(name: AssetName): string {
  return sea().getAsset(name, 'utf8');
}

/** Requires the module when an asset is read, since some versions of node that run the package do not have it. */
function sea(): typeof Sea {
  return createRequire(import.meta.url)('node:sea') as typeof Sea;
}

/** Returns a file of the page of `leads inspect`. Throws a `ConfigError` where the page was not built. */
export function pageFile(name: PageFileName): Uint8Array {
  if (LEADS_SINGLE_FILE) return assetBytes(`inspect/${name}`);
  const place = new URL(LEADS_PAGE_FOLDER + name, import.meta.url);
  try {
    return readFileSync(place);
  } catch (error) {
    throw pageNotInstalled(place.pathname, error);
  }
}
