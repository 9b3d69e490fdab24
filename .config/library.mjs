import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const { version, exports } = JSON.parse(await readFile(`${root}package.json`, 'utf8'));

/** The folder of the entries in dist/. */
export const libraryFolder = 'library/';

/** The source of each entry of the package for applications, by its name in dist/: package.json names the entries. */
export const libraryEntries = Object.fromEntries(
  Object.keys(exports)
    .filter((name) => name !== './package.json')
    .map((name) => name.slice('./'.length))
    .map((name) => [libraryFolder + name, `src/library/${name}.ts`]),
);
