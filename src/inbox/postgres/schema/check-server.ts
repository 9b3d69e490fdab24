import { ConfigError } from '../../../errors.ts';
import type { Connection } from '../connection/database-connections.ts';
import { numberOf, textOf } from '../sql/result-row.ts';
import { bytesOfName, qualifiedName, type Sql, sql } from '../sql/sql.ts';

/** As `server_version_num` counts. */
const oldestServer = 140_000;

/** Throws a `ConfigError` when the server would lose acknowledged leads, or is too old. */
export async function checkServer(
  connection: Connection,
  location: string,
  warn: (text: string) => void,
): Promise<void> {
  const [rows = []] = await connection.run(sql`SELECT current_setting('server_version_num')::int4 AS number,
    current_setting('server_version') AS version, current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes`);
  const [row = {}] = rows;
  if (numberOf(row['number']) < oldestServer) {
    throw new ConfigError(`the database of ${location} is PostgreSQL ${textOf(row['version'])}`, {
      hint: 'version 14 or newer is needed',
    });
  }
  if (row['fsync'] === 'off') {
    throw new ConfigError(
      `the database of ${location} has fsync=off: a power cut would lose acknowledged leads`,
      {
        hint: 'set fsync = on in postgresql.conf',
      },
    );
  }
  if (row['full_page_writes'] === 'off') {
    warn(`the database of ${location} has full_page_writes=off: a power cut may damage it`);
  }
}

/** The same when one of its tables is not written to the log, or the sequence, which would give numbers twice. */
export async function checkTables(connection: Connection, schema: Sql, location: string): Promise<void> {
  const [rows = []] = await connection.run(sql`SELECT relname, relkind = 'S' AS is_sequence,
    format('%s %I.%I', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, nspname, relname) AS object
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = relnamespace
    WHERE nspname = convert_from(${bytesOfName(schema)}, 'UTF8') AND relpersistence = 'u' AND relkind IN ('r', 'S') LIMIT 1`);
  const [row] = rows;
  if (row === undefined) return;
  const kind = row['is_sequence'] === true ? 'sequence' : 'table';
  throw new ConfigError(
    `the ${kind} ${textOf(row['relname'])} of the inbox ${location} is unlogged: a crash would empty it`,
    { hint: `ALTER ${textOf(row['object'])} SET LOGGED` },
  );
}

/** The same when the role lacks a right without which every delivery would be refused. */
export async function checkRights(connection: Connection, schema: Sql, location: string): Promise<void> {
  const [rows = []] =
    await connection.run(sql`SELECT quote_ident(current_user) AS role, relname, relkind = 'S' AS is_sequence
    FROM pg_catalog.pg_class WHERE oid IN (${qualifiedName(schema, 'delivery_numbers')}::regclass,
      ${qualifiedName(schema, 'ids')}::regclass, ${qualifiedName(schema, 'deliveries')}::regclass,
      ${qualifiedName(schema, 'unconfirmed')}::regclass)
    AND NOT CASE relkind
      WHEN 'S' THEN has_sequence_privilege(oid, 'SELECT') AND has_sequence_privilege(oid, 'USAGE, UPDATE')
      ELSE has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE')
    END ORDER BY relname LIMIT 1`);
  const [row] = rows;
  if (row === undefined) return;
  const [kind, grant] =
    row['is_sequence'] === true
      ? ['sequence', 'USAGE, SELECT ON ALL SEQUENCES']
      : ['table', 'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES'];
  throw new ConfigError(
    `the role ${textOf(row['role'])} may not use the ${kind} ${textOf(row['relname'])} of the inbox ${location}`,
    { hint: `GRANT ${grant} IN SCHEMA ${schema.text} TO ${textOf(row['role'])}` },
  );
}
