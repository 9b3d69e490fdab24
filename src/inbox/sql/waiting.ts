/**
 * Reads how far leads are at their targets (`forwards.ts`). A lead is undone at a target while it waits or is dead there. Tables name a
 * target by its stored name; people see its label, which holds no credentials.
 */
import type { DatabaseReader, Driver } from '../driver.ts';
import type { Forward, ForwardState, TargetCount } from '../inbox.ts';
import type { StoredRef } from '../query-types.ts';
import { targetLabel } from '../target-name.ts';
import { numberOf, optionalNumber, type Rows, textOf } from './row.ts';
import { fromColumn, sql, toColumn, type Work } from './statement.ts';

/** Stores the labels of targets that are new. Gives these labels, unless the inbox has no lead that such a target misses. */
export function* storeLabels(
  targets: readonly string[],
  storedName: (target: string) => string,
): Work<readonly string[]> {
  if (targets.length === 0) return [];
  const newLabels = new Map(
    targets.map((target): [string, string] => [storedName(target), targetLabel(target)]),
  );
  const [stored = [], someLead = []] = yield [
    sql`SELECT name FROM @targets`,
    sql`SELECT 1 AS one FROM @leads LIMIT 1`,
  ];
  for (const row of stored) newLabels.delete(textOf(row['name']));
  yield [{ into: 'targets', rows: [...newLabels].map(([name, label]) => [name, toColumn(label)]) }];
  return someLead.length === 0 ? [] : [...newLabels.values()];
}

const pageRows = 1000;

const undoneTargets = (driver: DatabaseReader): Promise<Rows> =>
  driver.read(sql`SELECT name, label FROM @targets
    WHERE EXISTS (SELECT 1 FROM @forwards WHERE target = name AND state <> 'done') ORDER BY label`);

/** Does what `Inbox.waiting` says. */
export async function* undoneLeads(driver: DatabaseReader, target?: string): AsyncGenerator<StoredRef> {
  const targets =
    target === undefined ? (await undoneTargets(driver)).map(({ name = null }) => textOf(name)) : [target];
  for (const name of targets) {
    for (let last: string | undefined = ''; last !== undefined;) {
      const rows: Rows = await driver.read(
        sql`SELECT lead, seq FROM @forwards WHERE target = ${name} AND state <> 'done' AND lead > ${last}
          ORDER BY lead LIMIT ${pageRows}`,
      );
      for (const row of rows) yield { leadId: fromColumn(textOf(row['lead'])), seq: numberOf(row['seq']) };
      last = rows.length < pageRows ? undefined : textOf(rows.at(-1)?.['lead']);
    }
  }
}

/** Does what `Inbox.targetCounts` says, own targets first. `ownTargets`: stored names of the receiver's targets. */
export async function targetCounts(
  driver: DatabaseReader,
  ownTargets: readonly string[],
): Promise<readonly TargetCount[]> {
  const counts: TargetCount[] = [];
  for (const { name = null, label = null } of await undoneTargets(driver)) {
    const sum = { waiting: 0, dead: 0, oldestAt: Number.POSITIVE_INFINITY };
    for (let last: string | undefined = ''; last !== undefined;) {
      const [row]: Rows = await driver.read(
        sql`SELECT COUNT(*) FILTER (WHERE state = 'waiting') AS waiting, COUNT(*) FILTER (WHERE state = 'dead') AS dead,
            MIN(first_at) FILTER (WHERE state = 'waiting') AS oldest, MAX(lead) AS last
          FROM (SELECT lead, state, first_at FROM @forwards JOIN @leads ON id = lead WHERE target = ${textOf(name)}
            AND state <> 'done' AND lead > ${last} ORDER BY lead LIMIT ${pageRows}) AS page`,
      );
      const [waiting, dead] = [numberOf(row?.['waiting']), numberOf(row?.['dead'])];
      sum.waiting += waiting;
      sum.dead += dead;
      sum.oldestAt = Math.min(sum.oldestAt, optionalNumber(row?.['oldest']) ?? sum.oldestAt);
      last = waiting + dead < pageRows ? undefined : textOf(row?.['last']);
    }
    const target = fromColumn(textOf(label));
    // The last undone leads may have been delivered meanwhile.
    if (sum.waiting + sum.dead > 0) counts.push({ target, ...sum, isOwn: ownTargets.includes(textOf(name)) });
  }
  return counts.sort((a, b) => Number(b.isOwn) - Number(a.isOwn));
}

/** Does what `Inbox.forwards` says. */
export async function forwardsOf(
  driver: Driver,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Forward[]>> {
  const { dialect } = driver;
  const rows = await driver.read(
    sql`SELECT lead, label, state, tries, due_at - clock_ahead AS due_at,
        CASE WHEN claimed_until > ${driver.now()} + clock_ahead THEN 1 ELSE 0 END AS is_claimed
      FROM ${dialect.tableOf(leadIds.map(toColumn))} ${dialect.joinBySearch} @forwards ON lead = asked.value
        LEFT JOIN @targets ON name = target CROSS JOIN @meta ORDER BY label`,
  );
  const byLead = new Map<string, Forward[]>();
  for (const row of rows) {
    const leadId = fromColumn(textOf(row['lead']));
    const state = textOf(row['state']) as ForwardState;
    const forward = {
      target: fromColumn(textOf(row['label'])),
      state,
      tries: numberOf(row['tries']),
      dueAt: state === 'waiting' ? numberOf(row['due_at']) : undefined,
      isClaimed: state === 'waiting' && numberOf(row['is_claimed']) === 1,
    };
    byLead.set(leadId, [...(byLead.get(leadId) ?? []), forward]);
  }
  return byLead;
}
