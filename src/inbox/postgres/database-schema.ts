import { ConfigError } from '../../errors.ts';
import { inboxOfNewerVersion } from '../errors.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { schemaOf, schemaVersion } from '../sql/schema.ts';
import { numberOf, textOf } from '../sql/row.ts';
import { Query } from '../sql/statement.ts';
import type { StoreOptions } from '../store-options.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import type { Session } from './session.ts';

/** The time of the database, which all who share the inbox have in common, in milliseconds since the epoch. */
export const databaseTime = '(1000 * extract(epoch FROM statement_timestamp()))::int8';

const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Puts the shared SQL into PostgreSQL's form: `$1` for the first `?`, and the schema in place of the `@` before a table's name. */
export function inSchema(text: string, schema: string): string {
  let parameters = 0;
  return text.replace(/\?|@(?=[a-z_])/g, (mark) => {
    if (mark === '@') return `${quotedName(schema)}.`;
    parameters += 1;
    return `$${parameters}`;
  });
}

/**
 * Makes the tables of every inbox, and one in which a check writes as much as the largest delivery, once the disk was full.
 * EXTERNAL keeps the server from compressing that. The key in `meta` comes from two UUIDs, since PostgreSQL has no other strong random numbers of its own.
 */
const schemaTexts = [
  ...schemaOf(postgresDialect),
  `INSERT INTO @meta (version, seq, key, overwrite_due, nonces_at, noted_at, clock_ahead) VALUES (${schemaVersion}, 0,
    decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'), 0, 0, ${databaseTime}, 0)`,
  `CREATE TABLE @write_checks (filler bytea)`,
  `ALTER TABLE @write_checks ALTER COLUMN filler SET STORAGE EXTERNAL`,
  `INSERT INTO @write_checks VALUES (NULL)`,
];

/** Whether the schema has the tables of an inbox. Throws a `ConfigError` where they are of another version. */
export async function isInbox(session: Session, location: DatabaseLocation): Promise<boolean> {
  const { schema } = location.url;
  // Without this, a missing `meta` would be an error, and so might be one that another program has just made: a session of the
  // server may remember that there was no schema until it reads the catalogue.
  const [tables = []] = await session.run([
    new Query(
      `SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE nspname = $1 AND relname = 'meta'`,
      [schema],
    ),
  ]);
  if (tables.length === 0) return false;
  const [[row] = []] = await session.run([new Query(inSchema('SELECT version FROM @meta', schema))]);
  if (row === undefined) return false;
  if (numberOf(row['version']) === schemaVersion) return true;
  throw inboxOfNewerVersion(location.shown);
}

/**
 * How long a program waits for another one that makes the schema, and for the answer to any statement of its own that makes it,
 * in milliseconds. The server has the same limit, since `lock_timeout` counts for advisory locks too.
 */
const slowMs = 600_000;

/** The first key of our advisory locks, the bytes of "lead": other programs on this database may take advisory locks too. */
const lockClass = 0x6c656164;

/**
 * Makes the schema if it is missing, even if several programs do it at once. Throws what `isInbox` throws, and
 * what the database throws, such as that the role may not.
 */
export async function createSchema(session: Session, location: DatabaseLocation): Promise<void> {
  const { schema } = location.url;
  const run = (texts: readonly string[]) =>
    session.run(
      texts.map((text) => new Query(text)),
      slowMs,
    );
  await run(['BEGIN', 'SET LOCAL statement_timeout = 0', `SET LOCAL lock_timeout = ${slowMs}`]);
  try {
    const lock = new Query(`SELECT pg_advisory_xact_lock(${lockClass}, hashtext($1))`, [schema]);
    await session.run([lock], slowMs);
    // Another program may have done it while this one waited for the lock.
    if (!(await isInbox(session, location))) await run(await schemaStatements(session, schema));
    await run(['COMMIT']);
  } catch (error) {
    await run(['ROLLBACK']).catch(() => session.drop());
    throw error;
  }
}

export async function schemaStatements(session: Session, schema: string): Promise<readonly string[]> {
  const [namespaces = []] = await session.run([
    new Query('SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema]),
  ]);
  const texts = schemaTexts.map((text) => inSchema(text, schema));
  return namespaces.length > 0 ? texts : [`CREATE SCHEMA ${quotedName(schema)}`, ...texts];
}

const oldestServer = 140_000;

/** Settings that make the server log parameters, which are the values that people sent, and the condition in SQL for each of them. */
const loggingSettings = [
  [
    'log_parameter_max_length',
    `current_setting('log_parameter_max_length') <> '0' AND (current_setting('log_statement') IN ('mod', 'all')
      OR current_setting('log_min_duration_statement') <> '-1' OR current_setting('log_min_duration_sample') <> '-1'
      OR current_setting('log_transaction_sample_rate') <> '0')`,
  ],
  ['log_parameter_max_length_on_error', `current_setting('log_parameter_max_length_on_error') <> '0'`],
  // A plan holds the values as constants, whatever is said of parameters.
  ['auto_explain.log_min_duration', `current_setting('auto_explain.log_min_duration', true) <> '-1'`],
  [
    'pgaudit.log_parameter',
    `current_setting('pgaudit.log', true) <> 'none' AND current_setting('pgaudit.log_parameter', true) = 'on'`,
  ],
] as const;

const serverState = new Query(`SELECT current_setting('server_version_num')::int4 AS number,
  current_setting('server_version') AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  concat_ws(', ', ${loggingSettings.map(([name, isOn]) => `CASE WHEN ${isOn} THEN '${name}' END`).join(', ')}) AS logging`);

/** Throws a `ConfigError` when the server would lose acknowledged leads, or is too old; warns of other settings that do harm. */
export async function checkServer(
  session: Session,
  location: DatabaseLocation,
  warn: StoreOptions['warn'],
): Promise<void> {
  const database = `the database of ${location.shown}`;
  const [[row = {}] = []] = await session.run([serverState]);
  if (numberOf(row['number']) < oldestServer) {
    throw new ConfigError(`${database} is PostgreSQL ${textOf(row['version'])}`, {
      hint: 'version 14 or newer is needed',
    });
  }
  if (row['fsync'] === 'off') {
    throw new ConfigError(`${database} has fsync=off: a power cut would lose acknowledged leads`, {
      hint: 'set fsync = on in postgresql.conf',
    });
  }
  if (row['full_page_writes'] === 'off') {
    const message = `${database} has full_page_writes=off: a power cut may damage it`;
    warn({ kind: 'postgres-without-full-pages', message });
  }
  const logging = textOf(row['logging']);
  if (logging !== '') {
    warn({
      kind: 'postgres-logs-values',
      message: `${database} writes what people sent into its log: ${logging} is not off`,
      hint: 'set the lengths to 0 there, and pgaudit.log_parameter to off',
    });
  }
}
