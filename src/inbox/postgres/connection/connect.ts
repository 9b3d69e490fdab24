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

/** Waits for its turn. */
interface Waiting {
  readonly begin: () => void;
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
  readonly #closings = new Set<Promise<void>>();
  /** Users that have a connection, or one that is being opened: they take idle ones first, so that no more are open. */
  #users = 0;
  #open = 0;
  #errors = 0;
  #isClosed = false;

  constructor(database: DatabaseLocation, most: number) {
    this.location = database.shown;
    this.schema = database.url.schema;
    this.#database = database;
    this.#most = most;
  }

  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const turn = this.#turn();
    if (turn !== undefined) await turn;
    try {
      const session = this.#idleSession() ?? (await this.#connect());
      try {
        return await work(session);
      } finally {
        this.#giveBack(session);
      }
    } catch (error) {
      this.#errors += 1;
      throw error;
    } finally {
      this.#users -= 1;
      const [next] = this.#waiting;
      next?.begin();
    }
  }

  pool(): ConnectionPool {
    const busy = this.#open - this.#idle.size;
    return { open: this.#open, busy, waiting: this.#waiting.size, errors: this.#errors };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting) reject(closedError());
    for (const session of this.#idle) this.#end(session);
    await Promise.all(this.#closings);
  }

  /**
   * Resolves when there are fewer users than connections may be open, and is undefined where there are: the caller is one of
   * them from then on.
   */
  #turn(): Promise<void> | undefined {
    if (this.#isClosed) return Promise.reject(closedError());
    if (this.#users < this.#most) {
      this.#users += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const ended = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
      };
      const waiting: Waiting = {
        begin: () => {
          ended();
          this.#users += 1;
          resolve();
        },
        reject: (error) => {
          ended();
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        this.#errors += 1;
        const [most, seconds] = [this.#most, longestWaitMs / 1000];
        const found: DatabaseProblem = { kind: 'database-connections-in-use', most, seconds };
        waiting.reject(new DatabaseUnavailableError(found));
      }, longestWaitMs);
      this.#waiting.add(waiting);
    });
  }

  #idleSession(): Session | undefined {
    for (const session of this.#idle) {
      this.#idle.delete(session);
      if (session.url !== this.#database.url) this.#end(session);
      else if (!session.isClosed) return session;
    }
    return undefined;
  }

  async #connect(): Promise<Session> {
    const session = await openSession(this.#database);
    this.#open += 1;
    session.onClose(() => {
      this.#open -= 1;
      this.#idle.delete(session);
    });
    return session;
  }

  #giveBack(session: Session): void {
    if (session.isClosed) return;
    // The database rolls a transaction back whose connection is gone.
    if (!session.isIdle) session.drop();
    else if (this.#isClosed) this.#end(session);
    else this.#idle.add(session);
  }

  #end(session: Session): void {
    this.#idle.delete(session);
    const closing = session.close(closeMs).finally(() => this.#closings.delete(closing));
    this.#closings.add(closing);
  }
}

const closedError = (): DatabaseUnavailableError =>
  new DatabaseUnavailableError({ kind: 'database-connections-closed' } satisfies DatabaseProblem);
