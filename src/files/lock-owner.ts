import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { getPriority, hostname } from 'node:os';
import * as z from 'zod/mini';

const schema = z.object({
  pid: z.number(),
  host: z.string(),
  /** Distinguishes a process from a later one with the same pid, where the system says when it started. */
  started: z.nullable(z.string()),
  /** Distinguishes one acquisition of the lock from the next. */
  token: z.string(),
});

/** The process that holds a lock. */
export type LockHolder = z.output<typeof schema>;

/** Tokens of this process: in a container every run may have the same pid, so the pid does not show whose lock it is. */
export const ownTokens = new Set<string>();

export async function describeSelf(pid: number): Promise<LockHolder> {
  const self = { pid, host: hostname(), started: await startOf(pid), token: randomUUID() };
  ownTokens.add(self.token);
  return self;
}

/** Undefined when there is no file; a file that is not a lock of ours counts as the lock of a dead process. */
export function parseHolder(text: string | undefined): LockHolder | undefined {
  if (text === undefined) return undefined;
  const deadProcess = { pid: 0, host: hostname(), started: null, token: text };
  try {
    const parsed = z.safeParse(schema, JSON.parse(text));
    return parsed.success ? parsed.data : deadProcess;
  } catch (error) {
    if (error instanceof SyntaxError) return deadProcess;
    throw error;
  }
}

/** `pid` is that of this process. A process on another machine cannot be checked: it counts as alive. */
export async function isAlive(holder: LockHolder, pid: number): Promise<boolean> {
  if (holder.host !== hostname()) return true;
  if (holder.pid === pid) return ownTokens.has(holder.token);
  if (!exists(holder.pid)) return false;
  return holder.started === null || holder.started === (await startOf(holder.pid));
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

/**
 * When a process started, in clock ticks since boot: field 22 of /proc/PID/stat, counted from the parenthesis after the
 * name. Null for a zombie, which ended and may stay in the process table of a container for ever.
 */
async function startOf(pid: number): Promise<string | null> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return null;
  }
}
