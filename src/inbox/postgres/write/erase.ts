import { hasMemberId, remainingBody, remainingHeaders, remainingPath } from '../../delivery-record.ts';
import type { Erased, ErasedCounts, Erasure } from '../../inbox.ts';
import type { OutOfReach } from '../../problems.ts';
import type { Connection } from '../connection/database-connections.ts';
import { type StoredId, storedIds } from '../erased-rows.ts';
import { isAnswered, isConflict } from '../postgres-errors.ts';
import { headersIn, type OpenedSchema, placeOf, storedText } from '../read/read-database.ts';
import {
  bytesOf,
  bytesOfName,
  bytesOfText,
  identifier,
  isNull,
  numberOf,
  type Row,
  type Rows,
  type Sql,
  sql,
  statements,
  textOf,
  textOfBytes,
} from '../sql.ts';
import { rejectsLock } from '../store-context.ts';
import { countRemoved } from './count-removed.ts';
import { inTransaction, runToCommit } from './transaction.ts';

/** How often a transaction is tried that meets others. */
const maxConflicts = 5;

const outOfReach: readonly OutOfReach[] = ['archives', 'rows-still-seen', 'free-space'];

/** `Inbox.erase`: one transaction, and then a VACUUM of the tables that it deleted from. */
export async function eraseFromDatabase(options: OpenedSchema, erasure: Erasure): Promise<Erased> {
  const { connections } = options;
  const ids = storedIds(options.targetKey, erasure.leadIds);
  const holding = await connections.use((connection) => contentsWithIds(connection, options.schema, ids));
  for (let conflicts = 0; ;) {
    try {
      const done = await eraseLocked(options, { ids, holding }, erasure);
      const { deliveries, rejected, leads } = done.counts;
      const isNothing = deliveries + rejected + leads === 0 && !done.isRepeated;
      const dead = isNothing
        ? undefined
        : await connections.use((connection) => vacuumTables(connection, options.schema));
      return {
        ...done.counts,
        remains: undefined,
        outOfReach: dead === undefined ? outOfReach : [dead, ...outOfReach],
      };
    } catch (error) {
      if (!isConflict(error) || conflicts === maxConflicts) throw error;
      conflicts += 1;
    }
  }
}

interface Done {
  readonly counts: ErasedCounts;
  /** One of the leads was erased before, maybe by an erasure that was cut short. */
  readonly isRepeated: boolean;
}

/** Locks the ids first, sorted, as every receiver does. */
function eraseLocked(
  opened: OpenedSchema,
  { ids, holding }: { readonly ids: readonly StoredId[]; readonly holding: readonly number[] },
  { rejected }: Erasure,
): Promise<Done> {
  const { schema, lockKey } = opened;
  const id = sql`${ids.map(({ bytes }) => bytes)}::bytea[]`;
  const lock = sql`SELECT count(*) FROM (SELECT id FROM ${schema}.ids WHERE id = ANY(${id}) ORDER BY ids.id FOR UPDATE) AS locked;
      SELECT pg_advisory_xact_lock(${lockKey}::int4, ${rejectsLock}::int4);`;
  return inTransaction(opened.connections, lock, async (connection) => {
    const [leads = [], deliveries = [], waiting = [], [before] = []] = await connection.run(
      sql`SELECT encode(id, 'hex') AS id, seq, first_at, attempts FROM ${schema}.ids WHERE id = ANY(${id});
    SELECT seq, received_at, first_seq, encode(lead, 'hex') AS lead, verdict FROM ${schema}.deliveries WHERE seq = ANY(ARRAY(
      SELECT seq FROM ${schema}.ids WHERE id = ANY(${id})
      UNION SELECT seq FROM ${schema}.deliveries WHERE lead = ANY(${id}) AND attempt > 1
      UNION SELECT seq FROM ${schema}.deliveries WHERE reason IS NOT NULL
        AND (lead = ANY(${id}) OR seq = ANY(${rejected}::int8[])))) ORDER BY seq;
    SELECT DISTINCT encode(lead, 'hex') AS lead FROM ${schema}.forwards WHERE lead = ANY(${id}) AND state <> 'done';
    SELECT digest FROM ${schema}.erased WHERE digest = ANY(${ids.map(({ digest }) => digest)}::bytea[]) LIMIT 1;`,
    );
    const isKnown = leads.length + deliveries.length > 0;
    const shared = await readShared(connection, schema, deliveries, isKnown ? holding : []);
    await runToCommit(connection, deletionOf(schema, { ids, leads, deliveries, shared }));
    const refused = deliveries.filter(({ verdict }) => verdict === 'rejected').length;
    return {
      counts: {
        leads: leads.length,
        deliveries: deliveries.length - refused,
        rejected: refused,
        waiting: waiting.length,
      },
      isRepeated: before !== undefined,
    };
  });
}

/** Contents that the deliveries shared with others, and those of `holding`, a row for each of those others. */
async function readShared(
  connection: Connection,
  schema: Sql,
  deliveries: Rows,
  holding: readonly number[],
): Promise<Rows> {
  const ofDeliveries = deliveries.flatMap(({ first_seq: seq }) => (seq === null ? [] : numberOf(seq)));
  const firsts = [...new Set([...ofDeliveries, ...holding])];
  if (firsts.length === 0) return [];
  const gone = deliveries.map(({ seq }) => numberOf(seq));
  const [rows = []] = await connection.run(
    sql`SELECT c.seq AS first_seq, d.seq, lead_start, lead_end, encode(path, 'hex') AS path,
      encode(c.headers, 'hex') AS headers, encode(c.body, 'hex') AS body
    FROM ${schema}.contents AS c LEFT JOIN ${schema}.deliveries AS d ON d.first_seq = c.seq AND d.seq <> ALL(${gone}::int8[])
    WHERE c.seq = ANY(${firsts}::int8[]);`,
  );
  return rows;
}

/** What was found, inside the transaction that deletes it. */
interface FoundRows {
  readonly ids: readonly StoredId[];
  /** Of `ids`. */
  readonly leads: Rows;
  /** Oldest first. */
  readonly deliveries: Rows;
  /** Contents that they shared, with each of the deliveries that stay. */
  readonly shared: Rows;
}

/** The statements that delete it, and note what stays of the ids. */
function deletionOf(schema: Sql, { ids, leads, deliveries, shared }: FoundRows): Sql {
  const gone = deliveries.map(({ seq }) => numberOf(seq));
  const id = sql`${ids.map(({ bytes }) => bytes)}::bytea[]`;
  const kept = ids.flatMap(({ key, digest }) => {
    const lead = leads.find((row) => textOf(row['id']) === key);
    // Of an id that was only rejected, too, nothing is to be stored any more.
    const first = deliveries.find((row) => textOf(row['lead']) === key);
    const found = lead ?? (first && { ...first, first_at: first['received_at'], attempts: 0 });
    return found === undefined ? [] : [{ digest, row: found }];
  });
  return statements(
    sql`WITH gone AS (DELETE FROM ${schema}.deliveries WHERE seq = ANY(${gone}::int8[]) RETURNING *)
    ${countRemoved(schema, sql`gone`)};
    DELETE FROM ${schema}.forwards WHERE lead = ANY(${id});
    DELETE FROM ${schema}.dropped_repeats WHERE lead = ANY(${id});
    DELETE FROM ${schema}.ids WHERE id = ANY(${id});`,
    ...[...contentsOf(shared)].map(([seq, rows]) => keepRest(schema, seq, rows)),
    kept.length === 0
      ? undefined
      : sql`INSERT INTO ${schema}.erased (digest, seq, first_at, attempts)
          SELECT digest, seq, first_at, attempts FROM unnest(${kept.map(({ digest }) => digest)},
            ${kept.map(({ row }) => numberOf(row['seq']))}, ${kept.map(({ row }) => numberOf(row['first_at']))},
            ${kept.map(({ row }) => numberOf(row['attempts']))}) AS new (digest, seq, first_at, attempts)
          ON CONFLICT DO NOTHING;`,
  );
}

/** By the number of the first of the leads that came together. */
function contentsOf(shared: Rows): ReadonlyMap<number, Rows> {
  const found = new Map<number, Row[]>();
  for (const row of shared) {
    const seq = numberOf(row['first_seq']);
    found.set(seq, [...(found.get(seq) ?? []), row]);
  }
  return found;
}

/** Of a delivery of several leads only those are left whose rows are; without any, it goes. */
function keepRest(schema: Sql, firstSeq: number, rows: Rows): Sql | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const rest = rows.filter(({ seq }) => !isNull(seq));
  if (rest.length === 0) return sql`DELETE FROM ${schema}.contents WHERE seq = ${firstSeq};`;
  const body = remainingBody(
    bytesOf(first['body']),
    rest.flatMap((row) => placeOf(row) ?? []),
  );
  const headers = bytesOfText(JSON.stringify(remainingHeaders(headersIn(first['headers']))));
  const path = bytesOfText(remainingPath(storedText(first['path'])));
  return sql`UPDATE ${schema}.contents SET headers = ${headers}, body = ${body} WHERE seq = ${firstSeq};
  UPDATE ${schema}.deliveries SET path = ${path} WHERE seq = ANY(${rest.map(({ seq }) => numberOf(seq))}::int8[]);`;
}

/** Bodies that are read at once. */
const pageRows = 50;

/** How long that may take, in milliseconds. */
const pageMs = 600_000;

const backslash = Buffer.from('\\');

/**
 * The numbers of those bodies of several leads that hold one of the ids: its record may have been dropped while others of
 * the same body stayed. Only bodies in which an id stands as it is, or may be escaped, leave the database.
 */
async function contentsWithIds(
  connection: Connection,
  schema: Sql,
  ids: readonly StoredId[],
): Promise<readonly number[]> {
  const found: number[] = [];
  if (ids.length === 0) return found;
  const wanted = new Set(ids.map(({ bytes }) => textOfBytes(bytes)));
  const texts = [backslash, ...ids.map(({ bytes }) => bytes)];
  for (let after = -1; ;) {
    const [rows = []] = await connection.run(
      sql`SELECT seq, encode(body, 'hex') AS body FROM ${schema}.contents WHERE seq > ${after}
        AND EXISTS (SELECT FROM unnest(${texts}::bytea[]) AS texts (part) WHERE position(part IN body) > 0)
      ORDER BY seq LIMIT ${pageRows}`,
      pageMs,
    );
    for (const { seq, body } of rows) if (hasMemberId(bytesOf(body), wanted)) found.push(numberOf(seq));
    if (rows.length < pageRows) return found;
    after = numberOf(rows.at(-1)?.['seq']);
  }
}

/** How long it may take, in milliseconds. */
const vacuumMs = 600_000;

/** The tables that an erasure deletes from. */
const erasedTables = ['deliveries', 'contents', 'forwards', 'dropped_repeats', 'ids'];

/** Removes their dead rows. Returns why that was not done; undefined when it was. */
async function vacuumTables(
  connection: Connection,
  schema: Sql,
): Promise<'rows-of-another-owner' | 'rows-not-vacuumed' | undefined> {
  const [others = []] = await connection.run(
    sql`SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE nspname = convert_from(${bytesOfName(schema)}, 'UTF8') AND relname = ANY(${erasedTables})
      AND NOT pg_catalog.pg_has_role(relowner, 'USAGE')`,
  );
  if (others.length > 0) return 'rows-of-another-owner';
  try {
    for (const table of erasedTables) {
      await connection.run(sql`VACUUM ${schema}.${identifier(table)}`, vacuumMs);
    }
    return undefined;
  } catch (error) {
    if (!isAnswered(error)) throw error;
    return 'rows-not-vacuumed';
  }
}
