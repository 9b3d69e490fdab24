import { describeSelf, isAlive, isInSight, parseHolder } from '../files/lock.ts';

/** A receiver on another host, or in another container, that wrote nothing for so long counts as dead, in milliseconds: it cannot be looked at. */
const silentMs = 7 * 86_400_000;

/** Between two notes of a receiver that it still runs, at least, in milliseconds. */
export const heartbeatEveryMs = 3_600_000;

/** The name that this receiver's leases are stored under. `pid`: of this process. */
export const leaseOwner = async (pid: number): Promise<string> => JSON.stringify(await describeSelf(pid));

/**
 * Whether a receiver was killed on this host: nobody has to wait until its leases expire. In another container with this
 * host's name it may run as well as not.
 */
export async function isDead(owner: string, pid: number): Promise<boolean> {
  const holder = parseHolder(owner);
  return holder !== undefined && (await isInSight(holder)) && !(await isAlive(holder, pid));
}

/** Whether a receiver does not run any more, so that its targets are not wanted. `seen`: its last note that it runs. */
export async function isGone(
  owner: string,
  { pid, seen, now }: { readonly pid: number; readonly seen: number; readonly now: number },
): Promise<boolean> {
  const holder = parseHolder(owner);
  const isVisible = holder !== undefined && (await isInSight(holder));
  return isVisible ? isDead(owner, pid) : seen < now - silentMs;
}
