import { mkdir, rename, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const drafts = fileURLToPath(new URL('../.cache/', import.meta.url));

/** Writes a file in one step: another build may write the same file, and a running program may read it. */
export async function writeWhole(path, text) {
  await mkdir(drafts, { recursive: true });
  const draft = `${drafts}${basename(path)}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, path);
}
