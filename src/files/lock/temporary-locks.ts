import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { type LockHolder, parseHolder } from './lock-owner.ts';

/** The name of a temporary file in which a lock is written before it gets its own name, whole or not at all. */
export const temporaryLockName = (file: string): string => `${file}.${randomBytes(6).toString('hex')}`;

/** Longer than it takes to write a temporary file that was created; ms. */
const longestWriteMs = 60_000;

/** Removes the temporary files of processes that were killed while they took this lock. Unreadable files stay. */
export async function removeAbandonedLocks(
  file: string,
  isAlive: (holder: LockHolder) => Promise<boolean>,
): Promise<void> {
  const [directory, prefix] = [dirname(file), `${basename(file)}.`];
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(prefix) || !/^[0-9a-f]{12}$/.test(name.slice(prefix.length))) continue;
    const temporary = join(directory, name);
    try {
      const holder = parseHolder(await readFile(temporary, 'utf8'));
      // Without a holder it is being written now, or its process was killed before it had written it.
      const mayBeInUse = holder?.pid === 0 && Date.now() - (await stat(temporary)).mtimeMs < longestWriteMs;
      if (holder === undefined || mayBeInUse || (await isAlive(holder))) continue;
      await rm(temporary, { force: true });
    } catch {
      // Removed by another process, or not readable for this user.
    }
  }
}
