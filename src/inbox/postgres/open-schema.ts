import { ConfigError } from '../../errors.ts';
import type { InboxReader } from '../inbox.ts';
import type { DatabaseLocation } from './connection/address/database-location.ts';
import { connect } from './connection/connect.ts';
import type { Connection, Connections } from './connection/database-connections.ts';
import { cannotOpen, isForbidden } from './postgres-errors.ts';
import { PostgresReader } from './postgres-reader.ts';
import { checkRights, checkServer, checkTables } from './schema/check-server.ts';
import { currentVersion, migrate, requireUsable, schemaVersion } from './schema/migrate.ts';
import { bytesOf, numberOf } from './sql/result-row.ts';
import { identifier, type Sql, sql } from './sql/sql.ts';

/** A schema that this program may use, and what identifies it. */
export interface OpenedSchema {
  readonly connections: Connections;
  readonly schema: Sql;
  /** Of its advisory locks. */
  readonly lockKey: number;
  /** Of the names of targets, and of the ids of erased leads. */
  readonly targetKey: Uint8Array;
}

interface WriteOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly warn: (text: string) => void;
}

/**
 * Opens the schema to write: creates it, or brings it up to date, where the role may. Throws a `ConfigError` when it
 * cannot be used as it is, and no lead would be safe in it.
 */
export async function openSchema(
  location: DatabaseLocation,
  { now, warn }: WriteOptions,
): Promise<OpenedSchema> {
  return opened(location, async (connection, schema) => {
    await checkServer(connection, location.shown, warn);
    const found = await schemaVersion(connection, schema);
    if (found !== undefined) requireUsable(found, location.shown);
    if ((found?.version ?? 0) < currentVersion) await migrateHere(connection, schema, { now, location });
    await checkTables(connection, schema, location.shown);
    await checkRights(connection, schema, location.shown);
  });
}

/** Opens the schema for reading only, which changes nothing. Throws as `openSchema` does. */
export async function openPostgresReader(location: DatabaseLocation): Promise<InboxReader> {
  const schema = await opened(location, async (connection, name) => {
    const found = await schemaVersion(connection, name);
    if (found === undefined) {
      throw new ConfigError(`there is no inbox in ${location.shown}`, { hint: migrateHint });
    }
    requireUsable(found, location.shown);
    if (found.version < currentVersion) {
      throw new ConfigError(`the inbox ${location.shown} is of an older version of leads`, {
        hint: migrateHint,
      });
    }
  });
  return new PostgresReader(schema);
}

const migrateHint = "'leads inbox migrate' with a role that may create tables makes it";

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
      return {
        connections,
        schema,
        lockKey: numberOf(row?.['lock_key']),
        targetKey: bytesOf(row?.['target_key']),
      };
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
    throw new ConfigError(
      `the inbox ${location.shown} is missing or out of date, and this role may not change that`,
      {
        hint: migrateHint,
        cause: error,
      },
    );
  }
}
