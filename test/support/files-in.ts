import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Every file and directory below a directory, by its path from there. */
export const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();

/** The bytes of all files below a directory, each as Latin-1 behind its path. */
export const textsIn = (directory: string): string =>
  filesIn(directory)
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => `${path}\n${readFileSync(path, 'latin1')}`)
    .join('\n');

/**
 * For a program that is killed: where it puts temporary files, so that a test sees what stays of them. The cache of
 * compiled code, which is there too, is left out.
 */
export const temporaryIn = (home: string) => ({
  TMPDIR: join(home, 'tmp'),
  NODE_DISABLE_COMPILE_CACHE: '1',
});
