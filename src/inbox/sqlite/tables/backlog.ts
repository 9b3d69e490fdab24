import { setImmediate as otherWork } from 'node:timers/promises';
import { type Backlog, inOrderOfLabels } from '../../inbox-monitor.ts';
import { targetLabel } from '../../target-name.ts';
import { textOf } from '../column.ts';
import type { Database } from '../libsql.ts';

/** Leads that are read in one step: a millisecond or two. */
const step = 1000;

/** `Inbox.backlog`. `wanted`: stored names of the targets of this receiver. There may be millions while an app is away, and the database is read on the event loop. */
export async function readBacklog(
  database: Database,
  wanted: readonly string[],
): Promise<readonly Backlog[]> {
  const targets = database
    .prepare(
      'SELECT name, label FROM targets WHERE EXISTS (SELECT 1 FROM work WHERE target = name AND done = 0)',
    )
    .all([]);
  const read = database.prepare(
    `SELECT COUNT(*) AS leads, MIN(first_at) AS oldest, MAX(lead) AS last FROM
     (SELECT lead, first_at FROM work JOIN leads ON id = lead WHERE target = ? AND done = 0 AND lead > ?
      ORDER BY lead LIMIT ${step})`,
  );
  const found = new Map<string | undefined, Backlog>();
  for (const { name, label } of targets) {
    const target = wanted.includes(textOf(name)) ? targetLabel(textOf(label)) : undefined;
    for (let last = ''; ;) {
      const row = read.get([textOf(name), last]);
      const leads = Number(row?.['leads'] ?? 0);
      if (leads > 0) {
        const before = found.get(target) ?? { target, leads: 0, oldestAt: Number.POSITIVE_INFINITY };
        const oldestAt = Math.min(before.oldestAt, Number(row?.['oldest']));
        found.set(target, { target, leads: before.leads + leads, oldestAt });
      }
      if (leads < step) break;
      last = textOf(row?.['last']);
      await otherWork();
    }
  }
  return inOrderOfLabels(found.values());
}
