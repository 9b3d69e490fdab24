import { inboxOfNewerVersion } from '../errors.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { schemaOf, schemaVersion } from '../sql/schema.ts';
import { numberOf } from '../sql/row.ts';
import { Query } from '../sql/statement.ts';
import type { DatabaseLocation } from './database-location.ts';
import type { Session } from './session.ts';

/** The time of the database, which all who share the inbox have in common, in milliseconds since the epoch. */
export const databaseTime = '(1000 * extract(epoch FROM statement_timestamp()))::int8';

const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Puts the shared SQL into PostgreSQL's form: `$1` for the first `?`, and the schema before a table's name in place of the `@`. */
export function inSchema(text: string, schema: string): string {
  let parameters = 0;
  return text.replace(/\?|@(?=[a-z_])/g, (mark) => {
    if (mark === '@') return `${quotedName(schema)}.`;
    parameters += 1;
    return `$${parameters}`;
  });
}

/**
 * Statements that make the tables of an inbox, in the schema that the URL names. The key in `meta` is made of two UUIDs, since PostgreSQL
 * has no other strong random numbers of its own. `write_checks` is for a check after the disk was full, which writes as much as the
 * largest delivery has; EXTERNAL keeps the server from compressing that.
 */
const schemaTexts = [
  ...schemaOf(postgresDialect),
  `INSERT INTO @meta (version, seq, key, overwrite_due, nonces_at, noted_at, clock_ahead) VALUES (${schemaVersion}, 0,
    decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'), 0, 0, ${databaseTime}, 0)`,
  `CREATE TABLE @write_checks (filler bytea)`,
  `ALTER TABLE @write_checks ALTER COLUMN filler SET STORAGE EXTERNAL`,
  `INSERT INTO @write_checks VALUES (NULL)`,
];

/** Whether the schema of the location has the tables of an inbox. Throws a `ConfigError` where they are of another version. */
export async function isInbox(session: Session, location: DatabaseLocation): Promise<boolean> {
  const { schema } = location.url;
  // The catalogue is asked first: a query of a missing table fails, even for a moment after another session has made the table.
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

/** In milliseconds. A statement that makes the schema may wait for another program that makes the same schema. */
const schemaMs = 600_000;

/** The first key of the advisory locks of this program, the bytes of "lead", since other programs on the database may use such locks. */
const lockClass = 0x6c656164;

/**
 * Makes the schema with its tables unless it is there, also where several programs do so at once. Throws as `isInbox` does, and the
 * error of the database, such as that the role may not.
 */
export async function createSchema(session: Session, location: DatabaseLocation): Promise<void> {
  const { schema } = location.url;
  const run = (texts: readonly string[]) =>
    session.run(
      texts.map((text) => new Query(text)),
      schemaMs,
    );
  await run([
    'BEGIN ISOLATION LEVEL READ COMMITTED',
    'SET LOCAL statement_timeout = 0',
    `SET LOCAL lock_timeout = ${schemaMs}`,
  ]);
  try {
    const lock = new Query(`SELECT pg_advisory_xact_lock(${lockClass}, hashtext($1))`, [schema]);
    await session.run([lock], schemaMs);
    // Another program may have made the schema while this one waited for the lock: only READ COMMITTED shows it.
    if (!(await isInbox(session, location))) await run(await schemaStatements(session, schema));
    await run(['COMMIT']);
  } catch (error) {
    await run(['ROLLBACK']).catch(() => session.drop());
    throw error;
  }
}

/** The statements that make the schema, if it is missing, and its tables; also for an administrator to run. */
export async function schemaStatements(session: Session, schema: string): Promise<readonly string[]> {
  const [namespaces = []] = await session.run([
    new Query('SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema]),
  ]);
  const texts = schemaTexts.map((text) => inSchema(text, schema));
  return namespaces.length > 0 ? texts : [`CREATE SCHEMA ${quotedName(schema)}`, ...texts];
}
