import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Every file and directory below a directory, by its path from there. */
export const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();

/**
 * For a program that is killed: where it puts temporary files, so that a test sees what stays of them. The cache of
 * compiled code, which is there too, is left out.
 */
export const temporaryIn = (home: string) => ({
  TMPDIR: join(home, 'tmp'),
  NODE_DISABLE_COMPILE_CACHE: '1',
});
