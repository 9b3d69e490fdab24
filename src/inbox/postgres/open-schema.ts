import { ConfigError } from '../../errors.ts';
import type { InboxReader } from '../inbox.ts';
import type { InboxProblem } from '../problems.ts';
import type { StoreOptions } from '../store-options.ts';
import { connect } from './connection/connect.ts';
import type { Connection } from './connection/database-connections.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import { currentVersion, migrate, requireUsable, schemaVersion } from './migrate.ts';
import { cannotOpen, isForbidden } from './postgres-errors.ts';
import { writeFunctionNames } from './write-functions.ts';
import { postgresReader } from './postgres-reader.ts';
import type { OpenedSchema } from './read/read-database.ts';
import {
  bytesOf,
  bytesOfName,
  identifier,
  numberOf,
  own,
  qualifiedName,
  type Rows,
  type Sql,
  sql,
  textOf,
} from './sql.ts';

interface WriteOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly warn: StoreOptions['warn'];
}

/**
 * Opens the schema to write: creates it, or brings it up to date, where the role may. Throws a `ConfigError` when it
 * cannot be used as it is, and no lead would be safe in it.
 */
export function openSchema(location: DatabaseLocation, { now, warn }: WriteOptions): Promise<OpenedSchema> {
  return opened(location, async (connection, schema) => {
    await checkServer(connection, location, warn);
    const found = await schemaVersion(connection, schema);
    if (found !== undefined) requireUsable(found, location.shown);
    if ((found?.version ?? 0) < currentVersion) await migrateHere(connection, schema, { now, location });
    await checkTables(connection, schema, location.shown);
    await checkFunctions(connection, schema, location.shown);
    requireRights(await connection.run(rightsQuestion(schema)), schema, location.shown);
  });
}

/** Opens the schema for reading only, which changes nothing. Throws as `openSchema` does. */
export async function openPostgresReader(location: DatabaseLocation): Promise<InboxReader> {
  const schema = await opened(location, async (connection, name) => {
    const found = await schemaVersion(connection, name);
    if (found === undefined) {
      throw new ConfigError({ kind: 'inbox-not-there', inbox: location.shown } satisfies InboxProblem);
    }
    requireUsable(found, location.shown);
    if (found.version < currentVersion) {
      throw new ConfigError({ kind: 'inbox-of-older-version', inbox: location.shown } satisfies InboxProblem);
    }
  });
  return postgresReader(schema);
}

async function opened(
  location: DatabaseLocation,
  prepare: (connection: Connection, schema: Sql) => Promise<void>,
): Promise<OpenedSchema> {
  const connections = await connect(location);
  try {
    return await connections.use(async (connection) => {
      const schema = identifier(connections.schema);
      await prepare(connection, schema);
      const [rows = []] = await connection.run(
        sql`SELECT lock_key, encode(target_key, 'hex') AS target_key FROM ${schema}.meta`,
      );
      const [row] = rows;
      const targetKey = bytesOf(row?.['target_key']);
      return { connections, schema, lockKey: numberOf(row?.['lock_key']), targetKey };
    });
  } catch (error) {
    await connections.close();
    throw cannotOpen(location.shown, error);
  }
}

async function migrateHere(
  connection: Connection,
  schema: Sql,
  { now, location }: { readonly now: number; readonly location: DatabaseLocation },
): Promise<void> {
  try {
    await migrate(connection, { schema, now });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const found = { kind: 'inbox-not-migrated', inbox: location.shown } satisfies InboxProblem;
    throw new ConfigError(found, { cause: error });
  }
}

/** As `server_version_num` counts. */
const oldestServer = 140_000;

/** Throws a `ConfigError` when the server would lose acknowledged leads, or is too old. */
export async function checkServer(
  connection: Connection,
  { shown: location }: DatabaseLocation,
  warn: StoreOptions['warn'],
): Promise<void> {
  const [rows = []] = await connection.run(sql`SELECT current_setting('server_version_num')::int4 AS number,
    current_setting('server_version') AS version, current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes,
    concat_ws(', ', ${loggingSetting(
      sql`current_setting('log_parameter_max_length') <> '0' AND (current_setting('log_statement') IN ('mod', 'all')
        OR current_setting('log_min_duration_statement') <> '-1' OR current_setting('log_min_duration_sample') <> '-1'
        OR current_setting('log_transaction_sample_rate') <> '0')`,
      'log_parameter_max_length',
    )}, ${loggingSetting(
      sql`current_setting('log_parameter_max_length_on_error') <> '0'`,
      'log_parameter_max_length_on_error',
    )}, ${loggingSetting(
      // A plan holds the values as constants, whatever is said of parameters.
      sql`current_setting('auto_explain.log_min_duration', true) <> '-1'`,
      'auto_explain.log_min_duration',
    )}, ${loggingSetting(
      sql`current_setting('pgaudit.log', true) <> 'none' AND current_setting('pgaudit.log_parameter', true) = 'on'`,
      'pgaudit.log_parameter',
    )}) AS logging`);
  const [row = {}] = rows;
  if (numberOf(row['number']) < oldestServer) {
    const version = textOf(row['version']);
    throw new ConfigError({ kind: 'postgres-too-old', inbox: location, version } satisfies InboxProblem);
  }
  if (row['fsync'] === 'off') {
    throw new ConfigError({ kind: 'postgres-without-fsync', inbox: location } satisfies InboxProblem);
  }
  if (row['full_page_writes'] === 'off') {
    warn({ kind: 'postgres-without-full-pages', inbox: location });
  }
  const logging = textOf(row['logging']);
  if (logging !== '') warn({ kind: 'postgres-logs-values', inbox: location, settings: logging });
}

/** Of a setting that has the server write parameters, which are what people sent, into its log: its name where that is so. */
const loggingSetting = (isOn: Sql, name: string): Sql => sql`CASE WHEN ${isOn} THEN ${own(name)}::text END`;

/** The same when one of its tables is not written to the log, or the sequence, which would give numbers twice. */
export async function checkTables(connection: Connection, schema: Sql, location: string): Promise<void> {
  const [rows = []] = await connection.run(sql`SELECT relname, relkind = 'S' AS is_sequence,
    format('%s %I.%I', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, nspname, relname) AS object
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = relnamespace
    WHERE nspname = convert_from(${bytesOfName(schema)}, 'UTF8') AND relpersistence = 'u' AND relkind IN ('r', 'S') LIMIT 1`);
  const [row] = rows;
  if (row === undefined) return;
  throw new ConfigError({
    kind: 'inbox-unlogged',
    inbox: location,
    name: textOf(row['relname']),
    type: row['is_sequence'] === true ? 'sequence' : 'table',
    object: textOf(row['object']),
  } satisfies InboxProblem);
}

/** The same when its functions name another schema: they would write into the inbox that is there now. */
async function checkFunctions(connection: Connection, schema: Sql, location: string): Promise<void> {
  const [rows = []] = await connection.run(sql`SELECT FROM pg_catalog.pg_proc AS p
    JOIN pg_catalog.pg_namespace AS n ON n.oid = pronamespace
    WHERE nspname = convert_from(${bytesOfName(schema)}, 'UTF8') AND proname = 'store_1'
      AND position(${own(`INTO ${schema.text}.deliveries`)}::text IN prosrc) > 0`);
  if (rows.length > 0) return;
  throw new ConfigError({
    kind: 'inbox-schema-renamed',
    inbox: location,
    schema: schema.text,
  } satisfies InboxProblem);
}

/** Gives a row where the role lacks a right without which every delivery would be refused. */
export const rightsQuestion = (schema: Sql): Sql =>
  sql`SELECT quote_ident(current_user) AS role, relname AS name, CASE relkind WHEN 'S' THEN 'sequence' ELSE 'table' END AS type
    FROM pg_catalog.pg_class WHERE oid IN (${qualifiedName(schema, 'delivery_numbers')}::regclass,
      ${qualifiedName(schema, 'ids')}::regclass, ${qualifiedName(schema, 'deliveries')}::regclass)
    AND NOT CASE relkind
      WHEN 'S' THEN has_sequence_privilege(oid, 'SELECT') AND has_sequence_privilege(oid, 'USAGE, UPDATE')
      ELSE has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE')
    END
    UNION ALL SELECT quote_ident(current_user), proname, 'function' FROM pg_catalog.pg_proc
    WHERE pronamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = ${qualifiedName(schema, 'ids')}::regclass)
      AND proname = ANY(${writeFunctionNames}) AND NOT has_function_privilege(oid, 'EXECUTE')
    ORDER BY name LIMIT 1;`;

/** Throws a `ConfigError` where there is one. */
export function requireRights([rows = []]: readonly Rows[], schema: Sql, location: string): void {
  const [row] = rows;
  if (row === undefined) return;
  const type = textOf(row['type']);
  throw new ConfigError({
    kind: 'inbox-right-missing',
    inbox: location,
    name: textOf(row['name']),
    type: type === 'sequence' || type === 'function' ? type : 'table',
    role: textOf(row['role']),
    schema: schema.text,
  } satisfies InboxProblem);
}
