import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The tests of the real binary run what is in the tree now, not what was built last. */
export default async function build(): Promise<void> {
  await promisify(execFile)(process.execPath, [
    fileURLToPath(new URL('../../.config/build.mjs', import.meta.url)),
  ]);
}
