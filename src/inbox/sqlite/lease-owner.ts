import { describeSelf, isAlive, parseHolder } from '../../files/lock-owner.ts';
import { textOf } from './column.ts';
import type { Database } from './libsql.ts';

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
    const holder = parseHolder(owner);
    if (holder !== undefined && !(await isAlive(holder, pid))) endLeases.run([owner]);
  }
}
