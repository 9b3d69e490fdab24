import { hostname } from 'node:os';
import { describeSelf, isAlive, parseHolder } from '../../files/lock/lock-owner.ts';
import { textOf } from './column.ts';
import type { Database } from './libsql.ts';

/** A receiver on another host that wrote nothing for so long counts as dead, in milliseconds: it cannot be looked at. */
const silentMs = 7 * 86_400_000;

/** The name that this receiver's leases are stored under. `pid`: of this process. */
export async function leaseOwner(pid: number): Promise<string> {
  return JSON.stringify(await describeSelf(pid));
}

/** Ends the leases of receivers that are dead, so that nobody has to wait until such a lease expires. */
export async function endDeadLeases(database: Database, pid: number): Promise<void> {
  const owners = database.prepare('SELECT DISTINCT owner FROM work WHERE done = 0 AND lease > 0').all([]);
  const endLeases = database.prepare('UPDATE work SET lease = 0 WHERE done = 0 AND owner = ?');
  for (const row of owners) {
    const owner = textOf(row['owner']);
    if (await isDead(owner, pid)) endLeases.run([owner]);
  }
}

/** Removes the receivers that were killed, so that their targets no longer count as wanted. */
export async function removeDeadReceivers(database: Database, pid: number, now: number): Promise<void> {
  const receivers = database.prepare('SELECT owner, MAX(seen) AS seen FROM receivers GROUP BY owner').all([]);
  const remove = database.prepare('DELETE FROM receivers WHERE owner = ?');
  for (const row of receivers) {
    const owner = textOf(row['owner']);
    const isElsewhere = parseHolder(owner)?.host !== hostname();
    const isSilent = isElsewhere && Number(row['seen']) < now - silentMs;
    if (isSilent || (await isDead(owner, pid))) remove.run([owner]);
  }
}

async function isDead(owner: string, pid: number): Promise<boolean> {
  const holder = parseHolder(owner);
  return holder !== undefined && !(await isAlive(holder, pid));
}
