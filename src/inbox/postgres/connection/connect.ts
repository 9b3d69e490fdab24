import type { DatabaseLocation } from './address/database-location.ts';
import type { Connections } from './database-connections.ts';
import { SessionPool } from './session/session-pool.ts';

export type { Connections } from './database-connections.ts';

export interface ConnectOptions {
  /** Connections that are open at the same time at most. Default 6. */
  readonly connections?: number | undefined;
}

const usualConnections = 6;

/**
 * Connects to the database, so that a fault is known at once. Throws a `ConfigError` when the URL, the password or a
 * certificate is not right, and a `DatabaseUnavailableError` when it cannot be reached.
 */
export async function connect(
  location: DatabaseLocation,
  options: ConnectOptions = {},
): Promise<Connections> {
  const pool = new SessionPool(location, options.connections ?? usualConnections);
  try {
    await pool.use(() => Promise.resolve());
    return pool;
  } catch (error) {
    await pool.close();
    throw error;
  }
}
