import { describeSelf, isAlive, parseHolder } from '../../files/holder.ts';
import { textOf } from './column.ts';
import type { Database } from './database.ts';

/** How this receiver signs its claims. */
export async function claimant(pid: number): Promise<string> {
  return JSON.stringify(await describeSelf(pid));
}

/** Lets go of what receivers claimed that are dead now, so that nobody has to wait until such a claim runs out. */
export async function freeDeadClaims(database: Database, pid: number): Promise<void> {
  const owners = database.prepare('SELECT DISTINCT owner FROM work WHERE done = 0 AND lease > 0').all([]);
  const free = database.prepare('UPDATE work SET lease = 0 WHERE done = 0 AND owner = ?');
  for (const row of owners) {
    const owner = textOf(row['owner']);
    const holder = parseHolder(owner);
    if (holder !== undefined && !(await isAlive(holder, pid))) free.run([owner]);
  }
}
