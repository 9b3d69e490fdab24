import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
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

/** A clock that stands still, or is set back, must not make the wait endless. */
const mostTries = 10_000;
const retryMs = 25;

/**
 * Takes the exclusive right to write `path`, with a file `path.lock` that names its holder. It replaces the lock of a dead
 * process at once. It waits up to `waitMs` for a live holder, by default not at all, and then throws an `OutputError` with the
 * holder's pid.
 */
export async function lock(
  path: string,
  { pid, clock, signal }: Pick<Host, 'pid' | 'clock' | 'signal'>,
  { waitMs = 0 }: { readonly waitMs?: number } = {},
): Promise<Lock> {
  const file = `${path}.lock`;
  const deadline = clock.now() + waitMs;
  for (let tryCount = 0; ; tryCount += 1) {
    const holder = await withOutputErrors(path, () => tryLock(file, pid));
    if (holder === undefined) break;
    if (clock.now() >= deadline || tryCount >= mostTries) {
      throw fileInUse(path, file, holder.pid, holder.host === hostname() ? undefined : holder.host);
    }
    await clock.sleep(retryMs, signal);
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

/** Resolves with undefined when this process has the lock, and otherwise with the live holder. */
async function tryLock(file: string, pid: number): Promise<LockHolder | undefined> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, JSON.stringify(describeSelf(pid)), { flag: 'wx' });
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
 * Two processes that find a lock dead at the same time must not remove each other's new lock, so a second lock protects the
 * removal. Resolves with the live process that has the second lock; otherwise with undefined, and the caller tries once more.
 */
async function removeDeadLock(
  file: string,
  deadText: string,
  draft: string,
  pid: number,
): Promise<LockHolder | undefined> {
  const removalLock = `${file}.takeover`;
  if (await linkNew(draft, removalLock)) {
    try {
      if ((await readIfExists(file)) === deadText) await unlink(file);
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

/** Makes `file` with the content of the draft; resolves with false where it exists. A link never shows half of a content. */
async function linkNew(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

const holderSchema = z.object({
  pid: z.number(),
  host: z.string(),
  /** When the process started, in milliseconds: in a container every run may have the same pid. */
  started: z.number(),
});

type LockHolder = z.output<typeof holderSchema>;

const describeSelf = (pid: number): LockHolder => ({
  pid,
  host: hostname(),
  started: performance.timeOrigin,
});

/** A text that names no holder counts as one of a dead process. */
const parseHolder = (text: string): LockHolder =>
  z.safeParse(holderSchema, jsonIn(text)).data ?? { pid: 0, host: hostname(), started: 0 };

/** A process on another machine cannot be checked, so it counts as alive. */
function isAlive(holder: LockHolder, ownPid: number): boolean {
  if (holder.host !== hostname()) return true;
  return holder.pid === ownPid ? holder.started === performance.timeOrigin : processExists(holder.pid);
}

/**
 * A process that was killed has the state Z until its parent notices; only numbers follow the state. An error other than ESRCH
 * proves nothing: the system may hide a process of another user, and only Linux has the file of the state.
 */
function processExists(pid: number): boolean {
  if (pid < 1) return false;
  try {
    getPriority(pid);
    return !/\) Z [-\d\s]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch (error) {
    return ((error as { info?: { code?: string } }).info?.code ?? '') !== 'ESRCH';
  }
}
