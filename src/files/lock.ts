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
  /** How long to wait for a live holder, in milliseconds; default 0: reject at once. */
  readonly waitMs?: number;
}

/**
 * Takes the exclusive right to write `path`, with a file `path.lock` that names its holder. The lock of a dead process
 * is taken over at once; a live holder is waited for, and then an `OutputError` is thrown that names its pid.
 */
export async function lock(
  path: string,
  { pid, clock, signal }: Pick<Host, 'pid' | 'clock' | 'signal'>,
  { waitMs = 0 }: Options = {},
): Promise<Lock> {
  const file = `${path}.lock`;
  const deadline = clock.now() + waitMs;
  for (let attempt = 0; ; attempt += 1) {
    const holder = await withOutputErrors(path, () => tryLock(file, pid));
    if (holder === undefined) break;
    if (clock.now() >= deadline || attempt >= 10_000) {
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

/** Resolves with the live process that has the lock; undefined where this process has it now. */
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
 * Removes the lock of a dead process, whose text it has. Two processes that find it dead at the same time must not remove each
 * other's new lock, so the removal has a lock of its own, held for one read and one unlink. Resolves with the process that has
 * that; undefined where nobody has it any more.
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
  const other = await readIfExists(removalLock);
  if (other === undefined) return undefined;
  const remover = parseHolder(other);
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
  /** When the process started: in a container every run may have the same pid. */
  started: z.number(),
});

/** The process that holds a lock. */
type LockHolder = z.output<typeof schema>;

const describeSelf = (pid: number): LockHolder => ({
  pid,
  host: hostname(),
  started: performance.timeOrigin,
});

/** A text that names no holder counts as the lock of a dead process. */
const parseHolder = (text: string): LockHolder =>
  z.safeParse(schema, jsonIn(text)).data ?? { pid: 0, host: hostname(), started: 0 };

/** `pid` is that of this process. A process on another machine cannot be checked: it counts as alive. */
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
    // A process of another user may be hidden from us, and exists nevertheless.
    return ((error as { info?: { code?: string } }).info?.code ?? '') !== 'ESRCH';
  }
}
