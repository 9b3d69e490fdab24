import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { getPriority, hostname } from 'node:os';
import * as z from 'zod/mini';

const schema = z.object({
  pid: z.number(),
  host: z.string(),
  /** Tells a process from a later one with the same pid, where the system says when it began. */
  started: z.nullable(z.string()),
  /** Names one taking of the lock. */
  token: z.string(),
});

/** Who holds a lock. */
export type LockHolder = z.output<typeof schema>;

/** Tokens of this process: in a container every run has the same pid, so the pid cannot tell ours from a dead one's. */
export const ownTokens = new Set<string>();

export async function describeSelf(pid: number): Promise<LockHolder> {
  const self = { pid, host: hostname(), started: await startOf(pid), token: randomUUID() };
  ownTokens.add(self.token);
  return self;
}

/** Undefined when there is no file; a file that is not one of ours counts as held by nobody who lives. */
export function parseHolder(text: string | undefined): LockHolder | undefined {
  if (text === undefined) return undefined;
  const nobody = { pid: 0, host: hostname(), started: null, token: text };
  try {
    const parsed = z.safeParse(schema, JSON.parse(text));
    return parsed.success ? parsed.data : nobody;
  } catch (error) {
    if (error instanceof SyntaxError) return nobody;
    throw error;
  }
}

/** `pid` is this process's. Of a process on another machine nothing is known: it counts as alive. */
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
    // Another user's process may be hidden from us, and is there all the same.
    return ((error as { info?: { code?: string } }).info?.code ?? '') !== 'ESRCH';
  }
}

/**
 * Start of a process in clock ticks since boot: field 22 of /proc/PID/stat, counted after the name's parenthesis. Null for
 * one that ended and still waits to be reaped, as it may for ever in a container.
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
