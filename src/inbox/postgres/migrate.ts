import { ConfigError } from '../../errors.ts';
import type { InboxProblem } from '../problems.ts';
import type { Connection } from './connection/database-connections.ts';
import { migrations } from './migrations.ts';
import { bytesOfName, integerLiteral, numberOf, type Sql, sql, statements } from './sql.ts';
import { orRollBack } from './write/transaction.ts';

export const currentVersion = migrations.length;

/** What `migrate` did. */
export interface Migrated {
  /** Version of the schema before; 0 when there was none. */
  readonly from: number;
  readonly to: number;
}

/** How many migrations a schema has had; undefined when there is no inbox in it. */
export async function schemaVersion(connection: Connection, schema: Sql): Promise<number | undefined> {
  // The catalogue is read first, so that the server forgets in this transaction, too, that there was no schema before.
  const [tables = []] = await connection.run(
    sql`SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
      WHERE nspname = convert_from(${bytesOfName(schema)}, 'UTF8') AND relname = 'meta'`,
  );
  if (tables.length === 0) return undefined;
  const [[row] = []] = await connection.run(sql`SELECT version FROM ${schema}.meta`);
  return row && numberOf(row['version']);
}

/** How long a migration may take, in milliseconds: rows may have to be moved. */
const slowMs = 600_000;

/** The class of our advisory locks ("lead"), so that another program's are no others'. */
const lockClass = 0x6c656164;

/**
 * Creates the schema or brings it up to date. Several programs may do it at once: one of them does it. Throws what the
 * database throws, such as that the role may not.
 */
export async function migrate(connection: Connection, schema: Sql): Promise<Migrated> {
  const from = (await schemaVersion(connection, schema)) ?? 0;
  if (from >= currentVersion) return { from, to: from };
  await orRollBack(connection, async () => {
    await connection.run(
      sql`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s';
      SELECT pg_advisory_xact_lock(${lockClass}::int4, hashtext(convert_from(${bytesOfName(schema)}, 'UTF8')));`,
      slowMs,
    );
    // Another program may have done it while this one waited for the lock.
    const steps = await missingSteps(connection, schema);
    await connection.run(statements(steps, sql`COMMIT;`), slowMs);
  });
  return { from, to: currentVersion };
}

/** The statements that `migrate` would run now. Changes nothing. */
export async function plannedMigration(connection: Connection, schema: Sql): Promise<string> {
  const steps = await missingSteps(connection, schema);
  return steps === undefined ? '' : `${statements(sql`BEGIN;`, steps, sql`COMMIT;`).text}\n`;
}

async function missingSteps(connection: Connection, schema: Sql): Promise<Sql | undefined> {
  const version = (await schemaVersion(connection, schema)) ?? 0;
  if (version >= currentVersion) return undefined;
  const [there = []] = await connection.run(
    sql`SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = convert_from(${bytesOfName(schema)}, 'UTF8')`,
  );
  return statements(
    there.length > 0 ? undefined : sql`CREATE SCHEMA ${schema};`,
    ...migrations.slice(version).map((step) => step(schema)),
    sql`UPDATE ${schema}.meta SET version = ${integerLiteral(currentVersion)};`,
  );
}

/** Throws a `ConfigError` when this program may not use a schema of that version. */
export function requireUsable(version: number, location: string): void {
  if (version > currentVersion) {
    throw new ConfigError({ kind: 'inbox-of-newer-version', inbox: location } satisfies InboxProblem);
  }
}
