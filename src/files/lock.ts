import { randomBytes, randomUUID } from 'node:crypto';
import { link, readdir, readFile, readlink, rm, unlink, writeFile } from 'node:fs/promises';
import { getPriority, hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { threadId } from 'node:worker_threads';
import * as z from 'zod/mini';
import { OutputError } from '../errors.ts';
import { jsonIn } from '../json/exact.ts';
import type { Host } from '../host.ts';
import { withOutputErrors } from './output-error.ts';
import type { FileProblem } from './problems.ts';
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
      if (!ownTokens().has(self.token)) return;
      await rm(file, { force: true });
      ownTokens().delete(self.token);
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

const schema = z.object({
  pid: z.number(),
  host: z.string(),
  /** Distinguishes a process from a later one with the same pid, where the system says when it started. */
  started: z.nullable(z.string()),
  /** Distinguishes one acquisition of the lock from the next. */
  token: z.string(),
  /** What the pid counts in, on Linux. Older versions wrote neither this nor the thread. */
  pidNamespace: z.optional(z.string()),
  /** Each thread of a process knows its own tokens alone. */
  thread: z.optional(z.number()),
});

/** The process that holds a lock. */
export type LockHolder = z.output<typeof schema>;

/** In a container every run may have the same pid, so the pid does not show whose lock it is: the token does. */
export async function describeSelf(pid: number): Promise<LockHolder> {
  const started = (await startOf(pid)) ?? null;
  const pidNamespace = await ownPidNamespace();
  const self = { pid, host: hostname(), started, token: randomUUID(), pidNamespace, thread: threadId };
  ownTokens().add(self.token);
  return self;
}

/** Undefined when there is no file; a file that is not a lock of ours counts as the lock of a dead process. */
export function parseHolder(text: string | undefined): LockHolder | undefined {
  if (text === undefined) return undefined;
  return z.safeParse(schema, jsonIn(text)).data ?? { pid: 0, host: hostname(), started: null, token: text };
}

/**
 * `pid` is that of this process. A process on another machine cannot be checked: it counts as alive. One of another container
 * with this host's name is looked for here nevertheless: it is what ran before this container was started again, and nobody
 * else would ever free its locks.
 */
export async function isAlive(holder: LockHolder, pid: number, read = readStat): Promise<boolean> {
  const { thread = threadId } = holder;
  if (holder.host !== hostname()) return true;
  if (holder.pid === pid && thread === threadId) return ownTokens().has(holder.token);
  if (!exists(holder.pid)) return false;
  const started = holder.started === null ? undefined : await startOf(holder.pid, read);
  // Of another user, it may be hidden: then whatever has this number is it. Or it ended just now.
  return started === undefined ? exists(holder.pid) : holder.started === started;
}

/** Whether the holder's pid is one of this machine, counted as here: containers may share the name of a host. */
export async function isInSight({ host, pidNamespace }: LockHolder): Promise<boolean> {
  return host === hostname() && (pidNamespace === undefined || pidNamespace === (await ownPidNamespace()));
}

/** Undefined on other systems than Linux. */
const ownPidNamespace = (): Promise<string | undefined> =>
  readlink('/proc/self/ns/pid').catch(() => undefined);

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

/**
 * When a process started, in clock ticks since boot: field 22 of /proc/PID/stat, counted from the parenthesis after the
 * name. Null for a zombie, which ended and may stay in the process table of a container for ever; undefined where the system
 * does not say: `hidepid` hides the processes of other users, or refuses to read of them.
 */
async function startOf(pid: number, read = readStat): Promise<string | null | undefined> {
  try {
    const text = await read(pid);
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : fields[19];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return undefined;
  }
}

const readStat = (pid: number): Promise<string> => readFile(`/proc/${pid}/stat`, 'latin1');

/**
 * State that every copy of this code in one process shares. An application that imports the package and requires it as well
 * has two, and so has one whose bundler put a copy into its own file: what one has locked, the other must not take over.
 */
const key: unique symbol = Symbol.for('leads-cli/state');

const holder = global as unknown as { [key]: { readonly ownTokens: Set<string> } | undefined };

/** Tokens of what this process holds. Made at the first use, so that an import changes nothing of its process. */
const ownTokens = (): Set<string> => (holder[key] ??= { ownTokens: new Set() }).ownTokens;
