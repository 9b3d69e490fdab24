import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const { version, exports } = JSON.parse(await readFile(`${root}package.json`, 'utf8'));

/** In dist/. */
export const libraryFolder = 'library/';

/** The package's entries for applications, as package.json has them: `library/client` from src/library/client.ts. */
export const libraryEntries = Object.fromEntries(
  Object.keys(exports)
    .filter((name) => name !== './package.json')
    .map((name) => name.slice('./'.length))
    .map((name) => [libraryFolder + name, `src/library/${name}.ts`]),
);
