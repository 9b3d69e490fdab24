import { ConfigError } from '../../errors.ts';
import type { InboxReader } from '../inbox.ts';
import type { InboxProblem } from '../problems.ts';
import type { StoreOptions } from '../store-options.ts';
import { connect } from './connection/connect.ts';
import type { Connection } from './connection/database-connections.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import { createSchema, isInbox } from './create-schema.ts';
import { cannotOpen, isForbidden } from './postgres-errors.ts';
import { postgresReader } from './postgres-reader.ts';
import type { OpenedSchema } from './read/read-database.ts';
import { bytesOf, identifier, numberOf, own, type Sql, sql, textOf } from './sql.ts';

/**
 * Opens the schema to write, and makes it where it is missing and the role may. Throws a `ConfigError` when it cannot be
 * used as it is, and no lead would be safe in it.
 */
export function openSchema(location: DatabaseLocation, warn: StoreOptions['warn']): Promise<OpenedSchema> {
  return opened(location, async (connection, schema) => {
    await checkServer(connection, location, warn);
    if (!(await isInbox(connection, schema, location.shown))) await createHere(connection, schema, location);
  });
}

/** Opens the schema for reading only, which changes nothing. Throws as `openSchema` does. */
export async function openPostgresReader(location: DatabaseLocation): Promise<InboxReader> {
  const schema = await opened(location, async (connection, name) => {
    if (await isInbox(connection, name, location.shown)) return;
    throw new ConfigError({ kind: 'inbox-not-there', inbox: location.shown } satisfies InboxProblem);
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

async function createHere(connection: Connection, schema: Sql, location: DatabaseLocation): Promise<void> {
  try {
    await createSchema(connection, schema, location.shown);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const found = { kind: 'inbox-not-made', inbox: location.shown } satisfies InboxProblem;
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
