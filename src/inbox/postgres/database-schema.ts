import { inboxOfNewerVersion } from '../errors.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { schemaOf, schemaVersion } from '../sql/schema.ts';
import { numberOf } from '../sql/row.ts';
import { Query } from '../sql/statement.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import type { Session } from './session.ts';

// The tables of an inbox in a PostgreSQL database stand in a schema of their own, which the URL names (`leads` unless it does).
// This file finds them there, and makes them.

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
 * Statements that make the tables of every inbox, and `write_checks`: after the disk was full, a check writes as much into it as
 * the largest delivery has. EXTERNAL keeps the server from compressing that. The key in `meta` is made of two UUIDs, since
 * PostgreSQL has no other strong random numbers of its own.
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
  // A query of a missing table is an error, so that the catalogue is asked first. The error may even last for a moment after
  // another program has made the table, since the server remembers for each session that there was no schema.
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
 * The time that the server and this program give to each statement that makes the schema, in milliseconds. Such a statement may
 * wait for another program that makes the same schema.
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
