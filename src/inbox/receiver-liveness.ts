import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { describeSelf, isAlive, parseHolder } from '../files/lock.ts';

/** A receiver on another host that wrote nothing for so long counts as dead, in milliseconds: it cannot be looked at. */
const silentMs = 7 * 86_400_000;

/** Between two notes of a receiver that it still runs, at least, in milliseconds. */
export const heartbeatEveryMs = 3_600_000;

/** From a note that could not be written to the next try, in milliseconds. */
export const heartbeatAgainMs = 60_000;

/** The name that this receiver's leases are stored under. `pid`: of this process, which may have several receivers. */
export const leaseOwner = (pid: number): string =>
  JSON.stringify({ ...describeSelf(pid), token: randomUUID() });

/** Whether a receiver was killed on this host: nobody has to wait until its leases expire. `pid`: of this process. */
export const isDead = (owner: string, pid: number): boolean => !isAlive(parseHolder(owner), pid);

interface LastNote {
  readonly pid: number;
  /** When the receiver last noted that it runs. */
  readonly seen: number;
  readonly now: number;
}

/** Whether a receiver does not run any more, so that its targets are not wanted. */
export const isGone = (owner: string, { pid, seen, now }: LastNote): boolean =>
  isDead(owner, pid) || (parseHolder(owner).host !== hostname() && seen < now - silentMs);
