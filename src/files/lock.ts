import { randomBytes } from 'node:crypto';
import { link, open, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { OutputError } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import { describeSelf, isAlive, type LockHolder, ownTokens, parseHolder } from './lock-owner.ts';
import { withOutputErrors } from './output-error.ts';
import type { FileProblem } from './problems.ts';
import { readIfExists } from './read.ts';

export interface Lock {
  release(): Promise<void>;
}

interface Process {
  /** Of this process. */
  readonly pid: number;
  readonly clock: Clock;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

interface Options {
  /** How long to wait for a live holder, in milliseconds; default 0: reject at once. */
  readonly waitMs?: number;
}

/**
 * Takes the exclusive right to write `path`, with a file `path.lock` that names its holder. The lock of a dead process
 * is taken over at once; a live holder is waited for, and then an `OutputError` is thrown that names its pid.
 */
export async function lock(
  path: string,
  { pid, clock, signal }: Process,
  { waitMs = 0 }: Options = {},
): Promise<Lock> {
  const file = `${path}.lock`;
  const self = await describeSelf(pid);
  const deadline = clock.now() + waitMs;
  for (let attempt = 0; ; attempt += 1) {
    const holder = await withOutputErrors(path, () => tryLock(file, self));
    if (holder === self) break;
    const mayRetry = clock.now() < deadline && attempt < 10_000;
    if (holder !== undefined && !mayRetry) throw lockHeldError(holder, path, file);
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

/** Who has the lock now; undefined while another process removes the lock of a dead holder. */
async function tryLock(file: string, self: LockHolder): Promise<LockHolder | undefined> {
  const temporary = temporaryLockName(file);
  await writeFile(temporary, JSON.stringify(self), { flag: 'wx' });
  try {
    for (;;) {
      // Linked instead of created: the lock appears with its whole content or not at all.
      if (await createdNow(() => link(temporary, file))) return self;
      const holder = parseHolder(await readIfExists(file));
      if (holder === undefined) continue;
      if (await isAlive(holder, self.pid)) return holder;
      if (!(await removeDeadLock(file, holder))) return undefined;
    }
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * Removes the lock of a dead process. Two processes that find it dead at the same time must not remove each other's new
 * lock, so the removal has a lock of its own, held for one read and one unlink. False: another process is removing it.
 */
async function removeDeadLock(file: string, dead: LockHolder): Promise<boolean> {
  const removalLock = `${file}.takeover`;
  if (!(await createdNow(async () => (await open(removalLock, 'wx')).close()))) {
    const ageMs = await stat(removalLock).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    // It is held for less than a millisecond: a process that left it behind was killed.
    if (ageMs > 2_000) await rm(removalLock, { force: true });
    return false;
  }
  try {
    const current = parseHolder(await readIfExists(file));
    if (current?.token === dead.token) await unlink(file);
  } finally {
    await rm(removalLock, { force: true });
  }
  return true;
}

/** False when the file exists already. */
async function createdNow(create: () => Promise<void>): Promise<boolean> {
  try {
    await create();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function lockHeldError(holder: LockHolder, path: string, file: string): OutputError {
  const host = holder.host === hostname() ? undefined : holder.host;
  const problem: FileProblem = { kind: 'file-in-use', path, pid: holder.pid, host, file };
  return new OutputError(problem);
}

/** The name of a temporary file in which a lock is written before it gets its own name, whole or not at all. */
const temporaryLockName = (file: string): string => `${file}.${randomBytes(6).toString('hex')}`;

/** Longer than it takes to write a temporary file that was created; ms. */
const longestWriteMs = 60_000;

/** Removes the temporary files of processes that were killed while they took this lock. Unreadable files stay. */
async function removeAbandonedLocks(
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
