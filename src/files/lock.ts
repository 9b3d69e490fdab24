import { randomBytes } from 'node:crypto';
import { link, readdir, rm, unlink, writeFile } from 'node:fs/promises';
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
  await removeAbandoned(file, pid);
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
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    for (;;) {
      if (await createdNow(file, draft, self)) return self;
      const holder = parseHolder(await readIfExists(file));
      if (holder === undefined) continue;
      if (await isAlive(holder, self.pid)) return holder;
      if (!(await removeDeadLock(file, holder, draft, self))) return undefined;
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Removes the lock of a dead process. Two processes that find it dead at the same time must not remove each other's new
 * lock, so the removal has a lock of its own, held for one read and one unlink. False: another process is removing it.
 */
async function removeDeadLock(
  file: string,
  dead: LockHolder,
  draft: string,
  self: LockHolder,
): Promise<boolean> {
  const removalLock = `${file}${takeover}`;
  if (!(await createdNow(removalLock, draft, self))) {
    await removeIfAbandoned(removalLock, self.pid);
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

const takeover = '.takeover';

/**
 * Whether `file`, which names its holder, is there now and was not before. It is linked instead of created: so it appears
 * with its whole content or not at all. The draft is written where it does not exist: another process may have removed
 * it while it was still empty.
 */
async function createdNow(file: string, draft: string, self: LockHolder): Promise<boolean> {
  for (;;) {
    try {
      await link(draft, file);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return false;
      if (code !== 'ENOENT') throw error;
      await writeFile(draft, JSON.stringify(self), { flag: 'wx' });
    }
  }
}

function lockHeldError(holder: LockHolder, path: string, file: string): OutputError {
  const host = holder.host === hostname() ? undefined : holder.host;
  const problem: FileProblem = { kind: 'file-in-use', path, pid: holder.pid, host, file };
  return new OutputError(problem);
}

/** Removes what processes left that were killed while they took this lock. */
async function removeAbandoned(file: string, pid: number): Promise<void> {
  const [directory, prefix] = [dirname(file), basename(file)];
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(prefix) || !/^\.(?:[0-9a-f]{12}|takeover)$/.test(name.slice(prefix.length)))
      continue;
    await removeIfAbandoned(join(directory, name), pid);
  }
}

async function removeIfAbandoned(path: string, pid: number): Promise<void> {
  try {
    const holder = parseHolder(await readIfExists(path));
    if (holder !== undefined && !(await isAlive(holder, pid))) await rm(path, { force: true });
  } catch {
    // Not readable for this user.
  }
}
