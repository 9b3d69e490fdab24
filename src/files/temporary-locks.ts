import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { type LockHolder, parseHolder } from './holder.ts';

/** A lock is written under a name of its own first: it then appears whole or not at all. */
export const temporaryLockName = (file: string): string => `${file}.${randomBytes(6).toString('hex')}`;

/** Longer than anybody takes from making a draft to having written it; ms. */
const longestWriteMs = 60_000;

/** Removes the drafts of those who were killed while they took this lock. What cannot be looked at stays. */
export async function removeAbandonedLocks(
  file: string,
  isAlive: (holder: LockHolder) => Promise<boolean>,
): Promise<void> {
  const [directory, prefix] = [dirname(file), `${basename(file)}.`];
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(prefix) || !/^[0-9a-f]{12}$/.test(name.slice(prefix.length))) continue;
    const draft = join(directory, name);
    try {
      const holder = parseHolder(await readFile(draft, 'utf8'));
      // Not written yet, or by somebody who was killed before it was.
      const unwritten = holder?.pid === 0 && Date.now() - (await stat(draft)).mtimeMs < longestWriteMs;
      if (holder === undefined || unwritten || (await isAlive(holder))) continue;
      await rm(draft, { force: true });
    } catch {
      // Gone meanwhile, or not ours to see.
    }
  }
}
