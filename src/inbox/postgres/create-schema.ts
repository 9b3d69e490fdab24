import { ConfigError } from '../../errors.ts';
import type { InboxProblem } from '../problems.ts';
import type { Connection } from './connection/database-connections.ts';
import { bytesOfName, integerLiteral, numberOf, qualifiedName, type Sql, sql, statements } from './sql.ts';
import { orRollBack } from './write/transaction.ts';

/** The version of the tables, as `meta` has it. */
const schemaVersion = 1;

/**
 * What comes from outside is `bytea`: `text` takes no NUL, and sorts by a locale. Times are milliseconds since the epoch.
 * `ids` holds every id for ever, `seq` and `first_at` being those of its first delivery, and `forwards` where each lead
 * stands at each of its targets. `contents` has headers and body of a delivery of several leads, once for all of them,
 * `removed` the counts of deliveries that were deleted, and `erased` what stays of an erased lead, under a keyed digest of
 * its id.
 */
const createTables = (schema: Sql): Sql => sql`
CREATE TABLE ${schema}.meta (
  one boolean PRIMARY KEY DEFAULT true CHECK (one), version int4 NOT NULL, lock_key int4 NOT NULL, target_key bytea NOT NULL
);
INSERT INTO ${schema}.meta VALUES (true, ${integerLiteral(schemaVersion)}, 1 + (random() * 2147483646)::int4, decode(
  replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
CREATE SEQUENCE ${schema}.delivery_numbers MINVALUE 0 START 0;
SELECT nextval(${qualifiedName(schema, 'delivery_numbers')});
CREATE TABLE ${schema}.ids (
  id bytea PRIMARY KEY, seq int8 NOT NULL, first_at int8 NOT NULL, digest bytea NOT NULL, attempts int4 NOT NULL,
  pushed boolean NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX fetched ON ${schema}.ids (seq) WHERE NOT pushed;
CREATE TABLE ${schema}.deliveries (
  seq int8 PRIMARY KEY, received_at int8 NOT NULL, lead bytea, verdict text NOT NULL, reason text, detail bytea,
  status int4 NOT NULL, attempt int4 NOT NULL, source text NOT NULL, differs bytea, remote bytea NOT NULL,
  method bytea NOT NULL, path bytea NOT NULL, headers bytea NOT NULL, body bytea NOT NULL, lead_start int4,
  lead_end int4, first_seq int8, created_at int8, results bytea
);
CREATE INDEX repeats ON ${schema}.deliveries (lead, seq) WHERE attempt > 1;
CREATE INDEX rejects ON ${schema}.deliveries (seq) WHERE reason IS NOT NULL;
CREATE INDEX sharing ON ${schema}.deliveries (first_seq) WHERE first_seq IS NOT NULL;
CREATE INDEX counted ON ${schema}.deliveries (received_at, verdict, reason, source, attempt, created_at);
CREATE TABLE ${schema}.contents (seq int8 PRIMARY KEY, headers bytea NOT NULL, body bytea NOT NULL);
CREATE TABLE ${schema}.removed (
  minute int8 NOT NULL, verdict text NOT NULL, reason text NOT NULL, source text NOT NULL, attempt int4 NOT NULL,
  backend int4 NOT NULL, count int8 NOT NULL, PRIMARY KEY (minute, verdict, reason, source, attempt, backend)
);
CREATE TABLE ${schema}.dropped_repeats (lead bytea PRIMARY KEY, differing int8 NOT NULL, same int8 NOT NULL);
CREATE TABLE ${schema}.erased (
  digest bytea PRIMARY KEY, seq int8 NOT NULL, first_at int8 NOT NULL, attempts int4 NOT NULL
);
CREATE TABLE ${schema}.targets (name bytea PRIMARY KEY, label bytea NOT NULL);
CREATE TABLE ${schema}.forwards (
  lead bytea NOT NULL, target bytea NOT NULL, seq int8 NOT NULL, request int8 NOT NULL, first_at int8 NOT NULL,
  state text NOT NULL, tries int4 NOT NULL, since int8 NOT NULL, due_at int8 NOT NULL, claimed_until int8 NOT NULL,
  PRIMARY KEY (lead, target)
) WITH (fillfactor = 80);
CREATE INDEX forwards_undone ON ${schema}.forwards (target, lead) WHERE state <> 'done';
CREATE INDEX forwards_due ON ${schema}.forwards (target, (greatest(due_at, claimed_until)), request) WHERE state = 'waiting';
CREATE INDEX forwards_dead ON ${schema}.forwards (lead) WHERE state = 'dead';
CREATE TABLE ${schema}.nonces (nonce bytea PRIMARY KEY, digest bytea NOT NULL, expires int8 NOT NULL);
CREATE INDEX nonces_by_time ON ${schema}.nonces (expires);
CREATE TABLE ${schema}.nonce_clock (one boolean PRIMARY KEY DEFAULT true CHECK (one), at int8 NOT NULL, noted timestamptz NOT NULL);
INSERT INTO ${schema}.nonce_clock VALUES (true, 0, clock_timestamp());
CREATE TABLE ${schema}.write_checks (one boolean PRIMARY KEY DEFAULT true CHECK (one), number int8 NOT NULL, filler bytea);
ALTER TABLE ${schema}.write_checks ALTER COLUMN filler SET STORAGE EXTERNAL;
INSERT INTO ${schema}.write_checks VALUES (true, 0, NULL);`;

/** Whether the schema has the tables of an inbox. Throws a `ConfigError` where they are of another version. */
export async function isInbox(connection: Connection, schema: Sql, location: string): Promise<boolean> {
  // The catalogue is read first, so that the server forgets in this transaction, too, that there was no schema before.
  const [tables = []] = await connection.run(
    sql`SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
      WHERE nspname = convert_from(${bytesOfName(schema)}, 'UTF8') AND relname = 'meta'`,
  );
  if (tables.length === 0) return false;
  const [[row] = []] = await connection.run(sql`SELECT version FROM ${schema}.meta`);
  if (row === undefined) return false;
  if (numberOf(row['version']) === schemaVersion) return true;
  throw new ConfigError({ kind: 'inbox-of-newer-version', inbox: location } satisfies InboxProblem);
}

/** How long a program waits for another one that makes the schema, and for the server, in milliseconds. */
const slowMs = 600_000;

/** The class of our advisory locks ("lead"), so that another program's are no others'. */
const lockClass = 0x6c656164;

/**
 * Makes the schema where there is none. Several programs may do it at once: one of them does it. Throws what `isInbox`
 * throws, and what the database throws, such as that the role may not.
 */
export function createSchema(connection: Connection, schema: Sql, location: string): Promise<void> {
  return orRollBack(connection, async () => {
    await connection.run(
      sql`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s';
      SELECT pg_advisory_xact_lock(${lockClass}::int4, hashtext(convert_from(${bytesOfName(schema)}, 'UTF8')));`,
      slowMs,
    );
    // Another program may have done it while this one waited for the lock.
    const isThere = await isInbox(connection, schema, location);
    const missing = isThere ? undefined : await schemaStatements(connection, schema);
    await connection.run(statements(missing, sql`COMMIT;`), slowMs);
  });
}

/** What makes the schema where there is none. Changes nothing. */
export async function schemaStatements(connection: Connection, schema: Sql): Promise<Sql> {
  const [found = []] = await connection.run(
    sql`SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = convert_from(${bytesOfName(schema)}, 'UTF8')`,
  );
  return statements(found.length > 0 ? undefined : sql`CREATE SCHEMA ${schema};`, createTables(schema));
}
