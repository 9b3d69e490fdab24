import type { ClaimedLead, LeadClaim } from '../../inbox.ts';
import type { Connection } from '../connection/database-connections.ts';
import { isConflict } from '../postgres-errors.ts';
import { storedText } from '../read/read-database.ts';
import { bytesOf, bytesOfText, hexOf, numberOf, type Row, type Rows, type Sql, sql, textOf } from '../sql.ts';
import { mostDueCompared } from '../../store-options.ts';
import { databaseTime, type StoreContext } from '../store-context.ts';
import { inTransaction, runToCommit } from './transaction.ts';

/** In the very words of the index. */
const freeAt = sql`greatest(due_at, claimed_until)`;

/** A transaction that meets others is tried so often. */
const maxConflicts = 5;

/** Runs statements that change rows of `forwards`, and gives the rows of the last of them. */
async function changed(context: StoreContext, change: Sql): Promise<Rows> {
  for (let conflicts = 0; ;) {
    try {
      return await inTransaction(context.connections, change, async (connection: Connection, answers) => {
        await runToCommit(connection);
        return answers.at(-1) ?? [];
      });
    } catch (error) {
      if (!isConflict(error) || conflicts === maxConflicts) throw error;
      conflicts += 1;
    }
  }
}

/** `Inbox.claim`: two receivers never claim the same row, and none waits for the other. */
export async function claim(
  context: StoreContext,
  target: string,
  most: number,
  withinMs: number,
): Promise<ClaimedLead[]> {
  const { schema, storedName, options } = context;
  const isDue = sql`target = ${storedName(target)} AND state = 'waiting' AND ${freeAt} <= ${databaseTime} + ${Math.round(withinMs)}`;
  const rows = await changed(
    context,
    sql`WITH earliest AS (SELECT ${freeAt} AS free_at, request, tries FROM ${schema}.forwards WHERE ${isDue}
      ORDER BY ${freeAt}, request LIMIT ${Math.max(most, mostDueCompared)}
    ), due AS MATERIALIZED (SELECT free_at, request FROM earliest ORDER BY tries > 0, free_at, request LIMIT ${most}
    ), locked AS MATERIALIZED (SELECT lead, target FROM ${schema}.forwards WHERE ${isDue}
      AND (${freeAt}, request) IN (SELECT free_at, request FROM due) FOR UPDATE SKIP LOCKED
    ) UPDATE ${schema}.forwards AS f SET tries = tries + 1, claimed_until = ${databaseTime} + ${Math.round(options.claimMs)}
      FROM locked WHERE f.lead = locked.lead AND f.target = locked.target
      RETURNING encode(f.lead, 'hex') AS lead, seq, request, tries, since;`,
  );
  return rows
    .map((row) => ({
      leadId: storedText(row['lead']),
      seq: numberOf(row['seq']),
      request: numberOf(row['request']),
      tries: numberOf(row['tries']),
      since: numberOf(row['since']),
    }))
    .sort((a, b) => a.seq - b.seq);
}

/** `Inbox.claimLeads`. */
export async function claimLeads(
  context: StoreContext,
  leadIds: readonly string[],
  target: string | undefined,
): Promise<LeadClaim[]> {
  const { connections, schema, storedName, options } = context;
  const ids = sql`${leadIds.map(bytesOfText)}::bytea[]`;
  const isAsked = target === undefined ? sql`state <> 'done'` : sql`target = ${storedName(target)}`;
  const lock = sql`SELECT encode(lead, 'hex') AS lead, encode(target, 'hex') AS target, state, tries,
      claimed_until > ${databaseTime} AS is_busy,
      (SELECT encode(label, 'hex') FROM ${schema}.targets WHERE name = f.target) AS label
    FROM ${schema}.forwards AS f WHERE lead = ANY(${ids}) AND ${isAsked} ORDER BY lead, target FOR UPDATE;`;
  return inTransaction(connections, lock, async (connection, [rows = []]) => {
    const found = leadIds.map((leadId) => {
      const key = hexOf(bytesOfText(leadId));
      const own = rows.filter((row) => row['lead'] === key);
      return target === undefined
        ? own.filter((row) => storedText(row['label']).startsWith('forward '))
        : own;
    });
    const claims = found.map(claimOf);
    const taken = found.flatMap(([row], i) => (row !== undefined && claims[i]?.state === 'claimed' ? [row] : []));
    await runToCommit(
      connection,
      sql`UPDATE ${schema}.forwards AS f SET tries = tries + 1, claimed_until = ${databaseTime} + ${Math.round(options.claimMs)}
        FROM unnest(${taken.map((row) => bytesOf(row['lead']))}::bytea[], ${taken.map((row) => bytesOf(row['target']))}::bytea[])
          AS chosen (lead, target) WHERE f.lead = chosen.lead AND f.target = chosen.target;`,
    );
    return claims;
  });
}

function claimOf([row, ...more]: readonly Row[]): LeadClaim {
  if (row === undefined) return { state: 'none', tries: 0 };
  const tries = numberOf(row['tries']);
  if (more.length > 0) return { state: 'several', tries };
  if (row['state'] === 'done') return { state: 'done', tries };
  if (row['is_busy'] === true) return { state: 'busy', tries };
  const label = storedText(row['label']);
  return { state: 'claimed', tries: tries + 1, stored: textOf(row['target']), label };
}

/** Leads that are given up in one step. */
const mostGivenUp = 500;

/** `Inbox.giveUp`. */
export async function giveUp(context: StoreContext, target: string, afterMs: number): Promise<number> {
  const { schema, storedName, options } = context;
  const rows = await changed(
    context,
    sql`UPDATE ${schema}.forwards SET state = 'dead' WHERE (lead, target) IN (SELECT lead, target FROM ${schema}.forwards
      WHERE target = ${storedName(target)} AND state = 'waiting' AND since <= ${options.clock.now() - Math.round(afterMs)}
        AND claimed_until <= ${databaseTime} LIMIT ${mostGivenUp} FOR UPDATE SKIP LOCKED) RETURNING seq;`,
  );
  return rows.length;
}

/** `Inbox.makeDue`. */
export async function makeDue(context: StoreContext, leadIds: readonly string[]): Promise<number> {
  const { schema, options } = context;
  const [row] = await changed(
    context,
    sql`WITH chosen AS MATERIALIZED (SELECT lead, target FROM ${schema}.forwards
        WHERE lead = ANY(${leadIds.map(bytesOfText)}::bytea[]) AND state <> 'done' ORDER BY lead, target FOR UPDATE
      ), due AS (UPDATE ${schema}.forwards AS f SET state = 'waiting', tries = 0, since = ${options.clock.now()},
        due_at = ${databaseTime} FROM chosen WHERE f.lead = chosen.lead AND f.target = chosen.target RETURNING f.lead
      ) SELECT count(DISTINCT lead) AS leads FROM due;`,
  );
  return numberOf(row?.['leads']);
}
