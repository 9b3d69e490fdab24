import { mkdir, rename, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const drafts = fileURLToPath(new URL('../.cache/', import.meta.url));

/** Puts a file in its place whole: another build may be writing the same one, and a program may be reading it. */
export async function writeWhole(path, text) {
  await mkdir(drafts, { recursive: true });
  const draft = `${drafts}${basename(path)}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, path);
}
