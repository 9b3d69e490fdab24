import {
  type Backlog,
  type Forward,
  type ForwardState,
  type StoredRef,
  sumBacklog,
  type TargetCount,
} from '../../inbox.ts';
import { bytesOfText, isNull, numberOf, sql, textOf } from '../sql.ts';
import { databaseTime, type StoreContext } from '../store-context.ts';
import { askOne, type OpenedSchema, storedText } from './read-database.ts';

/** Rows of the table `forwards` read at once. */
const pageRows = 10_000;

/** `own`: stored names in hex of the targets of who asks. */
export async function targetCounts(database: OpenedSchema, own: readonly string[]): Promise<TargetCount[]> {
  const { schema } = database;
  const rows = await askOne(
    database,
    sql`SELECT encode(target, 'hex') AS target, (SELECT encode(label, 'hex') FROM ${schema}.targets WHERE name = target) AS label,
      count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) FILTER (WHERE state = 'dead') AS dead
    FROM ${schema}.forwards WHERE state <> 'done' GROUP BY target`,
  );
  const found = rows.map((row) => ({
    target: storedText(row['label']),
    waiting: numberOf(row['waiting']),
    dead: numberOf(row['dead']),
    isOwn: own.includes(textOf(row['target'])),
  }));
  return found.sort((a, b) => (a.target < b.target ? -1 : 1));
}

/** `Inbox.forwards`. */
export async function forwardsOf(
  database: OpenedSchema,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Forward[]>> {
  const { schema } = database;
  const found = new Map<string, Forward[]>();
  if (leadIds.length === 0) return found;
  const rows = await askOne(
    database,
    sql`SELECT encode(lead, 'hex') AS lead, encode(label, 'hex') AS label, state, tries, due_at FROM ${schema}.forwards
      LEFT JOIN ${schema}.targets ON name = target WHERE lead = ANY(${leadIds.map(bytesOfText)}::bytea[]) ORDER BY targets.label`,
  );
  for (const row of rows) {
    const leadId = storedText(row['lead']);
    const state = textOf(row['state']) as ForwardState;
    const dueAt = state === 'waiting' ? numberOf(row['due_at']) : undefined;
    const forward = { target: storedText(row['label']), state, tries: numberOf(row['tries']), dueAt };
    const known = found.get(leadId);
    if (known === undefined) found.set(leadId, [forward]);
    else known.push(forward);
  }
  return found;
}

/** `Inbox.backlog`, page by page, so that no statement takes long though there may be millions. */
export async function backlogOf(database: OpenedSchema, own: readonly string[]): Promise<Backlog[]> {
  const { schema } = database;
  const parts: Backlog[] = [];
  for (let after = sql`true`; ;) {
    const rows = await askOne(
      database,
      sql`WITH page AS MATERIALIZED (SELECT target, lead, first_at, state FROM ${schema}.forwards WHERE state <> 'done' AND ${after}
        ORDER BY target, lead LIMIT ${pageRows}), last AS (SELECT target, lead FROM page ORDER BY target DESC, lead DESC LIMIT 1)
      SELECT encode(page.target, 'hex') AS target, count(*) AS read, count(*) FILTER (WHERE state = 'dead') AS dead,
        min(first_at) FILTER (WHERE state = 'waiting') AS oldest,
        (SELECT encode(label, 'hex') FROM ${schema}.targets WHERE name = page.target) AS label,
        (SELECT encode(target, 'hex') FROM last) AS last_target, (SELECT encode(lead, 'hex') FROM last) AS last_lead
      FROM page GROUP BY page.target`,
    );
    let read = 0;
    for (const row of rows) {
      const [count, dead] = [numberOf(row['read']), numberOf(row['dead'])];
      read += count;
      const target = own.includes(textOf(row['target'])) ? storedText(row['label']) : undefined;
      const oldestAt = isNull(row['oldest']) ? Number.POSITIVE_INFINITY : numberOf(row['oldest']);
      parts.push({ target, waiting: count - dead, dead, oldestAt });
    }
    const [last] = rows;
    if (last === undefined || read < pageRows) return sumBacklog(parts);
    const target = Buffer.from(textOf(last['last_target']), 'hex');
    after = sql`(target, lead) > (${target}, ${Buffer.from(textOf(last['last_lead']), 'hex')})`;
  }
}

/** Leads that wait for a target, or are dead there. `target`: its stored name; undefined: any. */
export async function* waitingLeads(
  database: OpenedSchema,
  target: Uint8Array | undefined,
): AsyncGenerator<StoredRef> {
  const { schema } = database;
  const isWanted = target === undefined ? sql`true` : sql`target = ${target}`;
  for (let after = sql`true`; ;) {
    const rows = await askOne(
      database,
      sql`SELECT encode(target, 'hex') AS target, encode(lead, 'hex') AS lead, seq FROM ${schema}.forwards
        WHERE state <> 'done' AND ${isWanted} AND ${after} ORDER BY target, lead LIMIT ${pageRows}`,
    );
    for (const row of rows) yield { leadId: storedText(row['lead']), seq: numberOf(row['seq']) };
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    const bytes = (column: 'target' | 'lead'): Buffer => Buffer.from(textOf(last[column]), 'hex');
    after = sql`(target, lead) > (${bytes('target')}, ${bytes('lead')})`;
  }
}

/** `Inbox.nextDueIn`. */
export async function nextDueIn(context: StoreContext, target: string): Promise<number | undefined> {
  const { schema, storedName } = context;
  const freeAt = sql`greatest(due_at, claimed_until)`;
  const [row] = await askOne(
    context,
    sql`SELECT ${freeAt} - ${databaseTime} AS due_in FROM ${schema}.forwards
      WHERE target = ${storedName(target)} AND state = 'waiting' ORDER BY ${freeAt} LIMIT 1`,
  );
  return row && numberOf(row['due_in']);
}
