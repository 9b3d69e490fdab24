import { randomBytes } from 'node:crypto';
import { link, rm, unlink, writeFile } from 'node:fs/promises';
import { getPriority, hostname } from 'node:os';
import * as z from 'zod/mini';
import { jsonIn } from '../json/exact.ts';
import type { Host } from '../host.ts';
import { fileInUse, withOutputErrors } from './errors.ts';
import { readIfExists } from './read.ts';

export interface Lock {
  release(): Promise<void>;
}

interface Options {
  /** The time to wait for a live holder, in milliseconds. Default 0 rejects at once. */
  readonly waitMs?: number;
}

/**
 * Takes the exclusive right to write `path`, with a file `path.lock` that names its holder. It replaces the
 * lock of a dead process at once; it waits for a live holder, and then throws an `OutputError` with its pid.
 */
export async function lock(
  path: string,
  { pid, clock, signal }: Pick<Host, 'pid' | 'clock' | 'signal'>,
  { waitMs = 0 }: Options = {},
): Promise<Lock> {
  const file = `${path}.lock`;
  const deadline = clock.now() + waitMs;
  for (let tryCount = 0; ; tryCount += 1) {
    const holder = await withOutputErrors(path, () => tryLock(file, pid));
    if (holder === undefined) break;
    if (clock.now() >= deadline || tryCount >= 10_000) {
      throw fileInUse(path, file, holder.pid, holder.host === hostname() ? undefined : holder.host);
    }
    await clock.sleep(25, signal);
  }
  let isHeld = true;
  return {
    async release() {
      if (!isHeld) return;
      isHeld = false;
      await rm(file, { force: true });
    },
  };
}

async function tryLock(file: string, pid: number): Promise<LockHolder | undefined> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, JSON.stringify(describeSelf(pid)), { flag: 'wx' });
  try {
    while (!(await linkNew(draft, file))) {
      const text = await readIfExists(file);
      if (text === undefined) continue;
      const holder = parseHolder(text);
      if (isAlive(holder, pid)) return holder;
      const remover = await removeDeadLock(file, text, draft, pid);
      if (remover !== undefined) return remover;
    }
    return undefined;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Two processes that find a lock dead at the same time must not remove each other's new lock, so a second lock
 * protects the removal. Resolves with the process that has the second lock; undefined where it is free.
 */
async function removeDeadLock(
  file: string,
  text: string,
  draft: string,
  pid: number,
): Promise<LockHolder | undefined> {
  const removalLock = `${file}.takeover`;
  if (await linkNew(draft, removalLock)) {
    try {
      if ((await readIfExists(file)) === text) await unlink(file);
    } finally {
      await rm(removalLock, { force: true });
    }
    return undefined;
  }
  const removerText = await readIfExists(removalLock);
  if (removerText === undefined) return undefined;
  const remover = parseHolder(removerText);
  if (isAlive(remover, pid)) return remover;
  await rm(removalLock, { force: true });
  return undefined;
}

/** Resolves with false where `file` exists. A link appears with its whole content or not at all. */
async function linkNew(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

const schema = z.object({
  pid: z.number(),
  host: z.string(),
  /** The start of the process: in a container every run may have the same pid. */
  started: z.number(),
});

type LockHolder = z.output<typeof schema>;

const describeSelf = (pid: number): LockHolder => ({
  pid,
  host: hostname(),
  started: performance.timeOrigin,
});

const parseHolder = (text: string): LockHolder =>
  z.safeParse(schema, jsonIn(text)).data ?? { pid: 0, host: hostname(), started: 0 };

/** `pid` is that of this process. A process on another machine cannot be checked, so it counts as alive. */
function isAlive(holder: LockHolder, pid: number): boolean {
  if (holder.host !== hostname()) return true;
  return holder.pid === pid ? holder.started === performance.timeOrigin : exists(holder.pid);
}

function exists(pid: number): boolean {
  if (pid < 1) return false;
  try {
    getPriority(pid);
    return true;
  } catch (error) {
    // The system may hide a process of another user.
    return ((error as { info?: { code?: string } }).info?.code ?? '') !== 'ESRCH';
  }
}
