import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { describeSelf, isAlive, parseHolder } from '../files/lock.ts';

/** A receiver on another host that wrote nothing for so long counts as dead, in milliseconds: it cannot be looked at. */
const silentMs = 7 * 86_400_000;

/** Between two notes of a receiver that it still runs, at least, in milliseconds. */
export const heartbeatEveryMs = 3_600_000;

/** Of the processes of a machine that is no container, the same on each. */
const usualNamespace = 'pid:[4026531836]';

/**
 * Where process ids are counted. Containers may share a host name, and each has a process 1: what tells them apart is the
 * namespace of their processes, and the last start of the machine.
 */
async function ownPlace(): Promise<string> {
  try {
    const namespace = await readlink('/proc/self/ns/pid');
    if (namespace === usualNamespace) return hostname();
    const start = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    return `${hostname()} ${start.trim()} ${namespace}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return hostname();
  }
}

/** The name that this receiver's leases are stored under. `pid`: of this process. */
export const leaseOwner = async (pid: number): Promise<string> =>
  JSON.stringify({ ...(await describeSelf(pid)), host: await ownPlace() });

/** Undefined for a receiver that cannot be looked at from here. An earlier release named the host alone. */
async function isAliveHere(owner: string, pid: number): Promise<boolean | undefined> {
  const holder = parseHolder(owner);
  if (holder === undefined || ![hostname(), await ownPlace()].includes(holder.host)) return undefined;
  return isAlive({ ...holder, host: hostname() }, pid);
}

/** Whether a receiver was killed on this host: nobody has to wait until its leases expire. */
export const isDead = async (owner: string, pid: number): Promise<boolean> =>
  (await isAliveHere(owner, pid)) === false;

/** Whether a receiver does not run any more, so that its targets are not wanted. `seen`: its last note that it runs. */
export const isGone = async (
  owner: string,
  { pid, seen, now }: { readonly pid: number; readonly seen: number; readonly now: number },
): Promise<boolean> => !((await isAliveHere(owner, pid)) ?? seen >= now - silentMs);
