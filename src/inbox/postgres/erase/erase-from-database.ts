import type { Erased, ErasedCounts, Erasure } from '../../erase/erasure.ts';
import { begin } from '../commit/transaction.ts';
import type { Connection, Connections } from '../connection/database-connections.ts';
import { isAnswered, isConflict } from '../postgres-errors.ts';
import { numberOf, type Rows, textOf } from '../sql/result-row.ts';
import { type Sql, sql, statements } from '../sql/sql.ts';
import { rejectsLock } from '../store-context.ts';
import { contentsWithIds } from './contents-with-ids.ts';
import { deletionOf } from './deletion.ts';
import { storedIds, type StoredId } from './stored-id.ts';
import { vacuumTables } from './vacuum-tables.ts';

export interface EraseOptions {
  readonly connections: Connections;
  readonly schema: Sql;
  readonly lockKey: number;
  readonly targetKey: Uint8Array;
}

/** How often a transaction is tried that meets others. */
const maxConflicts = 5;

const outOfReach = [
  'archives of its write-ahead log, replicas and backups of the database',
  'rows that a transaction which was open meanwhile still sees, until a later VACUUM',
  "free space in the database's own files, until it is used again or VACUUM FULL writes them anew",
];

/** `Inbox.erase`: one transaction, and then a VACUUM of the tables that it deleted from. */
export async function eraseFromDatabase(options: EraseOptions, erasure: Erasure): Promise<Erased> {
  const { connections } = options;
  const ids = storedIds(options.targetKey, erasure.leadIds);
  const holding = await connections.use((connection) => contentsWithIds(connection, options.schema, ids));
  for (let conflicts = 0; ;) {
    try {
      const done = await connections.use((connection) =>
        transact(connection, options, { ids, holding }, erasure),
      );
      const { deliveries, rejected, leads } = done.counts;
      const isNothing = deliveries + rejected + leads === 0;
      const dead = isNothing
        ? undefined
        : await connections.use((connection) => vacuumTables(connection, options.schema, done.tables));
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
  /** Partitions of `deliveries` in which something was erased. */
  readonly tables: readonly string[];
}

/** Locks the ids first, sorted, as every receiver does. */
async function transact(
  connection: Connection,
  { schema, lockKey }: EraseOptions,
  { ids, holding }: { readonly ids: readonly StoredId[]; readonly holding: readonly number[] },
  { rejected }: Erasure,
): Promise<Done> {
  const id = sql`${ids.map(({ bytes }) => bytes)}::bytea[]`;
  try {
    await connection.run(
      statements(
        begin,
        sql`SELECT count(*) FROM (SELECT id FROM ${schema}.ids WHERE id = ANY(${id}) ORDER BY ids.id FOR UPDATE) AS locked;
        SELECT pg_advisory_xact_lock(${lockKey}, ${rejectsLock});`,
      ),
    );
    const [leads = [], deliveries = [], outstanding = []] = await connection.run(
      sql`SELECT encode(id, 'hex') AS id, seq, first_at, attempts FROM ${schema}.ids WHERE id = ANY(${id});
      SELECT seq, received_at, first_seq, encode(lead, 'hex') AS lead, verdict, relname FROM ${schema}.deliveries AS d
        JOIN pg_catalog.pg_class AS c ON c.oid = d.tableoid WHERE seq = ANY(ARRAY(
        SELECT seq FROM ${schema}.ids WHERE id = ANY(${id})
        UNION SELECT seq FROM ${schema}.deliveries WHERE lead = ANY(${id}) AND attempt > 1
        UNION SELECT seq FROM ${schema}.deliveries WHERE reason IS NOT NULL
          AND (lead = ANY(${id}) OR seq = ANY(${rejected}::int8[])))) ORDER BY seq;
      SELECT DISTINCT encode(lead, 'hex') AS lead FROM ${schema}.outstanding WHERE lead = ANY(${id});`,
    );
    const isKnown = leads.length + deliveries.length > 0;
    const shared = await readShared(connection, schema, deliveries, isKnown ? holding : []);
    await connection.run(statements(deletionOf(schema, { ids, leads, deliveries, shared }), sql`COMMIT;`));
    const refused = deliveries.filter(({ verdict }) => verdict === 'rejected').length;
    return {
      counts: {
        leads: leads.length,
        deliveries: deliveries.length - refused,
        rejected: refused,
        pending: outstanding.length,
      },
      tables: [
        ...new Set([
          ...deliveries.map(({ relname }) => textOf(relname)),
          ...shared.map(({ relname }) => textOf(relname).replace(/^contents/, 'deliveries')),
        ]),
      ],
    };
  } catch (error) {
    if (isAnswered(error)) await connection.run(sql`ROLLBACK`);
    throw error;
  }
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
    sql`SELECT c.seq AS first_seq, c.received_at, d.seq, relname, lead_start, lead_end, encode(path, 'hex') AS path,
      encode(c.headers, 'hex') AS headers, encode(c.body, 'hex') AS body
    FROM ${schema}.contents AS c JOIN pg_catalog.pg_class AS t ON t.oid = c.tableoid LEFT JOIN ${schema}.deliveries AS d
      ON d.first_seq = c.seq AND d.received_at = c.received_at AND d.seq <> ALL(${gone}::int8[])
    WHERE c.seq = ANY(${firsts}::int8[]);`,
  );
  return rows;
}
