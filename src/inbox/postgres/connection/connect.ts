import type { ConnectionPool } from '../../inbox.ts';
import type { DatabaseProblem } from '../../problems.ts';
import type { Connection, Connections } from './database-connections.ts';
import { DatabaseUnavailableError } from './database-errors.ts';
import type { DatabaseLocation } from './database-location.ts';
import { openSession } from './open-session.ts';
import type { Session } from './session.ts';

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

interface Waiting {
  readonly resolve: (connection: Session) => void;
  readonly reject: (error: Error) => void;
}

/** How long one may wait for a connection, in milliseconds. */
const longestWaitMs = 5000;
/** What a session has for its end, in milliseconds. */
const closeMs = 500;

/**
 * Connections that are opened when they are needed and lent to one user at a time. Each is
 * thrown away when it breaks.
 */
class SessionPool implements Connections {
  readonly location: string;
  readonly schema: string;
  readonly #database: DatabaseLocation;
  readonly #most: number;
  readonly #idle = new Set<Session>();
  readonly #waiting = new Set<Waiting>();
  /** Open ones, and those that are being opened. */
  #count = 0;
  #open = 0;
  #errors = 0;
  #isClosed = false;
  readonly #closings = new Set<Promise<void>>();

  constructor(database: DatabaseLocation, most: number) {
    this.location = database.shown;
    this.schema = database.url.schema;
    this.#database = database;
    this.#most = most;
  }

  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#acquire();
    try {
      return await work(connection);
    } catch (error) {
      this.#errors += 1;
      throw error;
    } finally {
      this.#release(connection);
    }
  }

  pool(): ConnectionPool {
    const busy = this.#open - this.#idle.size;
    return { open: this.#open, busy, waiting: this.#waiting.size, errors: this.#errors };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting) reject(closedError());
    for (const connection of this.#idle) this.#end(connection);
    await Promise.all(this.#closings);
  }

  #acquire(): Promise<Session> {
    if (this.#isClosed) return Promise.reject(closedError());
    for (const connection of this.#idle) {
      this.#idle.delete(connection);
      if (connection.url !== this.#database.url) this.#end(connection);
      else if (!connection.isClosed) return Promise.resolve(connection);
    }
    return this.#count < this.#most ? this.#connect() : this.#wait();
  }

  async #connect(): Promise<Session> {
    this.#count += 1;
    try {
      const connection = await openSession(this.#database);
      this.#open += 1;
      connection.onClose(() => {
        this.#open -= 1;
        this.#idle.delete(connection);
        this.#leave();
      });
      return connection;
    } catch (error) {
      this.#errors += 1;
      this.#leave();
      throw error;
    }
  }

  /** One connection fewer: the first caller that waits may open another. */
  #leave(): void {
    this.#count -= 1;
    const [next] = this.#waiting;
    if (next === undefined || this.#isClosed) return;
    this.#waiting.delete(next);
    this.#connect().then(next.resolve, next.reject);
  }

  #wait(): Promise<Session> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#errors += 1;
        waiting.reject(
          new DatabaseUnavailableError({
            kind: 'database-connections-in-use',
            most: this.#most,
            seconds: longestWaitMs / 1000,
          } satisfies DatabaseProblem),
        );
      }, longestWaitMs);
      const waiting: Waiting = {
        resolve: (connection) => {
          clearTimeout(timer);
          resolve(connection);
        },
        reject: (error) => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          reject(error);
        },
      };
      this.#waiting.add(waiting);
    });
  }

  #release(connection: Session): void {
    if (connection.isClosed) return;
    if (!connection.isIdle) {
      // The database rolls a transaction back whose connection is gone.
      connection.drop();
      return;
    }
    if (this.#isClosed) {
      this.#end(connection);
      return;
    }
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#idle.add(connection);
      return;
    }
    this.#waiting.delete(next);
    next.resolve(connection);
  }

  #end(connection: Session): void {
    this.#idle.delete(connection);
    const closing = connection.close(closeMs).finally(() => this.#closings.delete(closing));
    this.#closings.add(closing);
  }
}

const closedError = (): DatabaseUnavailableError =>
  new DatabaseUnavailableError({ kind: 'database-connections-closed' } satisfies DatabaseProblem);
