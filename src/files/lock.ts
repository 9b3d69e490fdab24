import { link, open, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Context } from '../context.ts';
import { OutputError } from '../errors.ts';
import { temporaryLockName, removeAbandonedLocks } from './temporary-locks.ts';
import { withOutputErrors } from './output-error.ts';
import { type LockHolder, describeSelf, isAlive, ownTokens, parseHolder } from './holder.ts';

export interface Lock {
  release(): Promise<void>;
}

interface Options {
  /** How long to wait for a live holder, in milliseconds; default 0: refuse at once. */
  readonly waitMs?: number;
}

/**
 * Takes the exclusive right to write `path`, by a file `path.lock` that names its holder. A lock whose holder is dead
 * is taken over at once; a live one is waited for, then refused with an `OutputError` that names its pid.
 */
export async function lock(
  path: string,
  { pid, clock, signal }: Pick<Context, 'pid' | 'clock' | 'signal'>,
  { waitMs = 0 }: Options = {},
): Promise<Lock> {
  const file = `${path}.lock`;
  const self = await describeSelf(pid);
  const deadline = clock.now() + waitMs;
  for (let attempt = 0; ; attempt += 1) {
    const holder = await withOutputErrors(path, () => tryLock(file, self));
    if (holder === self) break;
    const patient = clock.now() < deadline && attempt < 10_000;
    if (holder !== undefined && !patient) throw lockHeldError(holder, path, file);
    await clock.sleep(25, signal);
  }
  await removeAbandonedLocks(file, (holder) => isAlive(holder, pid));
  return {
    async release() {
      if (!ownTokens.has(self.token)) return;
      await rm(file, { force: true });
      ownTokens.delete(self.token);
    },
  };
}

/** Who has the lock now; undefined while somebody else removes the lock of a dead holder. */
async function tryLock(file: string, self: LockHolder): Promise<LockHolder | undefined> {
  const draft = temporaryLockName(file);
  await writeFile(draft, JSON.stringify(self), { flag: 'wx' });
  try {
    for (;;) {
      // Linking instead of creating: the file appears with its content or not at all.
      if (await createdNow(() => link(draft, file))) return self;
      const holder = parseHolder(await readIfThere(file));
      if (holder === undefined) continue;
      if (await isAlive(holder, self.pid)) return holder;
      if (!(await removeDeadLock(file, holder))) return undefined;
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Removes a dead holder's lock. Two processes that find it dead at the same time must not remove each other's new
 * one, so the removal has a lock of its own, held for one look and one unlink. False: somebody else is at it.
 */
async function removeDeadLock(file: string, dead: LockHolder): Promise<boolean> {
  const guard = `${file}.takeover`;
  if (!(await createdNow(async () => (await open(guard, 'wx')).close()))) {
    const age = await stat(guard).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    // Held for less than a millisecond: whoever left it behind was killed.
    if (age > 2_000) await rm(guard, { force: true });
    return false;
  }
  try {
    const now = parseHolder(await readIfThere(file));
    if (now?.token === dead.token) await unlink(file);
  } finally {
    await rm(guard, { force: true });
  }
  return true;
}

async function createdNow(make: () => Promise<void>): Promise<boolean> {
  try {
    await make();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function lockHeldError(holder: LockHolder, path: string, file: string): OutputError {
  const elsewhere = holder.host !== hostname();
  const who = `process ${holder.pid}${elsewhere ? ` on ${holder.host}` : ''}`;
  return new OutputError(`${path} is in use by another leads (${who})`, {
    hint: elsewhere
      ? `if that machine no longer runs it, remove ${file}`
      : 'wait for it to end, or write to another file',
  });
}
