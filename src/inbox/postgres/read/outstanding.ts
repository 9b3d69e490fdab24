import {
  type Backlog,
  type DueLead,
  type LackingTarget,
  sumBacklog,
  type Outstanding,
  type StoredRef,
} from '../../inbox.ts';
import { bytesOfText, isNull, numberOf, sql, textOf } from '../sql.ts';
import { databaseTime, type StoreContext } from '../store-context.ts';
import { askOne, type OpenedSchema, storedText } from './read-database.ts';

/** Rows of the table `outstanding` read at once. */
const pageRows = 10_000;

/** The receiver that asks: the keys (stored names in hex) of its targets, and its own name. */
export interface Asking {
  readonly wanted: readonly string[];
  readonly owner: Uint8Array;
}

/** Targets that have not had some lead. */
export async function outstandingTargets(
  database: OpenedSchema,
  { wanted, owner }: Asking,
): Promise<Outstanding[]> {
  const { schema } = database;
  const rows = await askOne(
    database,
    sql`SELECT encode(target, 'hex') AS target, (SELECT encode(label, 'hex') FROM ${schema}.targets WHERE name = target) AS label,
      leads, dead, EXISTS (SELECT FROM ${schema}.receivers AS r WHERE r.target = counted.target AND r.owner <> ${owner}) AS elsewhere
    FROM (SELECT target, count(*) FILTER (WHERE NOT dead) AS leads, count(*) FILTER (WHERE dead) AS dead
      FROM ${schema}.outstanding GROUP BY target) AS counted`,
  );
  const found = rows.map((row) => ({
    target: storedText(row['label']),
    leads: numberOf(row['leads']),
    dead: numberOf(row['dead']),
    wanted: wanted.includes(textOf(row['target'])),
    wantedElsewhere: row['elsewhere'] === true,
  }));
  return found.sort((a, b) => (a.target < b.target ? -1 : 1));
}

/** `Inbox.lackingTargets`. */
export async function lackingTargets(database: OpenedSchema, leadId: string): Promise<LackingTarget[]> {
  const { schema } = database;
  const rows = await askOne(
    database,
    sql`SELECT encode(label, 'hex') AS label, tries, due_at, dead FROM ${schema}.outstanding
      LEFT JOIN ${schema}.targets ON name = target WHERE lead = ${bytesOfText(leadId)} ORDER BY targets.label`,
  );
  return rows.map((row) => ({
    target: storedText(row['label']),
    tries: numberOf(row['tries']),
    dueAt: row['dead'] === true ? undefined : numberOf(row['due_at']),
    dead: row['dead'] === true,
  }));
}

/** `Inbox.backlog`, page by page, so that no statement takes long though there may be millions. */
export async function backlogOf(
  database: OpenedSchema,
  { wanted }: Pick<Asking, 'wanted'>,
): Promise<Backlog[]> {
  const { schema } = database;
  const parts: Backlog[] = [];
  for (let after = sql`true`; ;) {
    const rows = await askOne(
      database,
      sql`WITH page AS MATERIALIZED (SELECT target, lead, first_at, dead FROM ${schema}.outstanding WHERE ${after}
        ORDER BY target, lead LIMIT ${pageRows}), last AS (SELECT target, lead FROM page ORDER BY target DESC, lead DESC LIMIT 1)
      SELECT encode(page.target, 'hex') AS target, count(*) AS read, count(*) FILTER (WHERE dead) AS dead,
        min(first_at) FILTER (WHERE NOT dead) AS oldest,
        (SELECT encode(label, 'hex') FROM ${schema}.targets WHERE name = page.target) AS label,
        (SELECT encode(target, 'hex') FROM last) AS last_target, (SELECT encode(lead, 'hex') FROM last) AS last_lead
      FROM page GROUP BY page.target`,
    );
    let read = 0;
    for (const row of rows) {
      const [count, dead] = [numberOf(row['read']), numberOf(row['dead'])];
      read += count;
      const target = wanted.includes(textOf(row['target'])) ? storedText(row['label']) : undefined;
      const oldestAt = isNull(row['oldest']) ? Number.POSITIVE_INFINITY : numberOf(row['oldest']);
      parts.push({ target, leads: count - dead, dead, oldestAt });
    }
    const [last] = rows;
    if (last === undefined || read < pageRows) return sumBacklog(parts);
    const target = Buffer.from(textOf(last['last_target']), 'hex');
    after = sql`(target, lead) > (${target}, ${Buffer.from(textOf(last['last_lead']), 'hex')})`;
  }
}

/** Leads that a target has not had. `target`: its stored name; undefined: any. */
export async function* outstandingLeads(
  database: OpenedSchema,
  target: Uint8Array | undefined,
): AsyncGenerator<StoredRef> {
  const { schema } = database;
  const isWanted = target === undefined ? sql`true` : sql`target = ${target}`;
  for (let after = sql`true`; ;) {
    const rows = await askOne(
      database,
      sql`SELECT encode(target, 'hex') AS target, encode(lead, 'hex') AS lead, seq FROM ${schema}.outstanding
        WHERE ${isWanted} AND ${after} ORDER BY target, lead LIMIT ${pageRows}`,
    );
    for (const row of rows) yield { leadId: storedText(row['lead']), seq: numberOf(row['seq']) };
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    const bytes = (column: 'target' | 'lead'): Buffer => Buffer.from(textOf(last[column]), 'hex');
    after = sql`(target, lead) > (${bytes('target')}, ${bytes('lead')})`;
  }
}

/** Leads that the target is to be tried for, earliest first. Left out: `by` whatever time, `leadIds` of all leads. */
export async function dueLeads(
  context: StoreContext,
  target: string,
  {
    by,
    limit,
    leadIds,
  }: { readonly by?: number; readonly limit: number; readonly leadIds?: readonly string[] | undefined },
): Promise<DueLead[]> {
  const { schema, storedName, options, owner } = context;
  // In the very words of the index, which is by the database's clock, as leases are.
  const freeAt = sql`greatest(due_at, lease)`;
  const isDue =
    by === undefined
      ? sql`true`
      : sql`${freeAt} <= ${databaseTime} + ${Math.floor(by - options.clock.now())}`;
  const isAsked = leadIds === undefined ? sql`true` : sql`lead = ANY(${leadIds.map(bytesOfText)}::bytea[])`;
  const rows = await askOne(
    context,
    sql`SELECT encode(lead, 'hex') AS lead, seq, tries + (lease > 0 AND owner <> ${owner})::int AS tries, since,
      ${freeAt} - ${databaseTime} AS due_in FROM ${schema}.outstanding
      WHERE target = ${storedName(target)} AND NOT dead AND ${isAsked} AND ${isDue} ORDER BY ${freeAt} LIMIT ${limit}`,
  );
  const now = options.clock.now();
  return rows.map((row) => ({
    leadId: storedText(row['lead']),
    seq: numberOf(row['seq']),
    tries: numberOf(row['tries']),
    since: numberOf(row['since']),
    dueAt: now + numberOf(row['due_in']),
  }));
}
