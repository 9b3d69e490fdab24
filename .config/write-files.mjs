import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { root } from './library.mjs';

const dist = `${root}dist/`;
const drafts = `${root}.cache/`;

/**
 * Writes the texts by their names below dist/, in this order, and then removes the other files whose paths match the pattern:
 * they are of an earlier build. A file is replaced in one step, because another build may write it and a running program may
 * read it.
 */
export async function writeFiles(texts, pattern) {
  await mkdir(drafts, { recursive: true });
  for (const [name, text] of texts) {
    const draft = `${drafts}${basename(name)}.${process.pid}`;
    await writeFile(draft, text);
    await mkdir(dirname(dist + name), { recursive: true });
    await rename(draft, dist + name);
  }
  for (const item of await readdir(dist, { recursive: true, withFileTypes: true })) {
    const path = join(item.parentPath, item.name);
    const isOld = item.isFile() && pattern.test(path) && !texts.has(relative(dist, path));
    if (isOld) await rm(path, { force: true });
  }
}
