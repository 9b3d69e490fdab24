import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Projects load this file on their own, and a second build would pull the program from under running tests. */
const shared: typeof globalThis & { leadsBuild?: Promise<unknown> } = globalThis;

/** The tests of the real binary run what is in the tree now, not what was built last. */
export default async function build(): Promise<void> {
  shared.leadsBuild ??= promisify(execFile)(process.execPath, [
    fileURLToPath(new URL('../../.config/build.mjs', import.meta.url)),
  ]);
  await shared.leadsBuild;
}
