import { hostname } from 'node:os';
import { describeSelf, isAlive, isInSight, parseHolder } from '../files/lock.ts';

/** A receiver on another host, or in another container, that wrote nothing for so long counts as dead, in milliseconds: it cannot be looked at. */
const silentMs = 7 * 86_400_000;

/** Between two notes of a receiver that it still runs, at least, in milliseconds. */
export const heartbeatEveryMs = 3_600_000;

/** From a note that could not be written to the next try, in milliseconds. */
export const heartbeatAgainMs = 60_000;

/**
 * After so long a silence, in milliseconds, one with this host's name in another container counts as dead, such as the run before
 * a restart, in a store where receivers note hourly that they run. One of an older release that notes it with deliveries only
 * counts so although it runs: its leases hold, but its targets count as former ones.
 */
const silentHereMs = 3 * heartbeatEveryMs;

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

interface LastNote {
  readonly pid: number;
  /** When the receiver last noted that it runs. */
  readonly seen: number;
  readonly now: number;
  /** Receivers note that also where nothing is delivered. */
  readonly isHourly: boolean;
}

/** Whether a receiver does not run any more, so that its targets are not wanted. */
export async function isGone(owner: string, { pid, seen, now, isHourly }: LastNote): Promise<boolean> {
  const holder = parseHolder(owner);
  if (holder !== undefined && (await isInSight(holder))) return isDead(owner, pid);
  return seen < now - (isHourly && holder?.host === hostname() ? silentHereMs : silentMs);
}
