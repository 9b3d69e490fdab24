import { DatabaseUnavailableError } from './database-errors.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import { openSession } from './open-session.ts';
import type { Session } from './session.ts';

interface Waiting {
  readonly begin: () => void;
  readonly reject: (error: Error) => void;
}

const longestWaitMs = 5000;

/** Sessions that are opened when they are needed, and lent to one user at a time. */
export class SessionPool {
  readonly #location: DatabaseLocation;
  readonly #maxSessions: number;
  readonly #idle = new Set<Session>();
  readonly #waiting = new Set<Waiting>();
  readonly #closings = new Set<Promise<void>>();
  #users = 0;
  #isClosed = false;

  constructor(location: DatabaseLocation, maxSessions = 6) {
    this.#location = location;
    this.#maxSessions = maxSessions;
  }

  /**
   * Lends a session for as long as `work` runs, which leaves no transaction open. Rejects with a `DatabaseUnavailableError`
   * when there is no session, when it breaks, and when an answer takes too long; with a `ConfigError` when the database does
   * not let this user in any more; and otherwise with what `work` threw.
   */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      const session = this.#idleSession() ?? (await this.#opened());
      try {
        return await work(session);
      } finally {
        this.#giveBack(session);
      }
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#users -= 1;
      else {
        this.#waiting.delete(next);
        next.begin();
      }
    }
  }

  /** Ends idle sessions at once, and the others as they come back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting) reject(closedError());
    for (const session of this.#idle) this.#end(session);
    await Promise.all(this.#closings);
  }

  /** Resolves when there are fewer users than sessions may be open: the caller is one of them from then on. */
  async #turn(): Promise<void> {
    if (this.#isClosed) throw closedError();
    if (this.#users < this.#maxSessions) {
      this.#users += 1;
      return;
    }
    const message = `all ${this.#maxSessions} connections to the database were in use for ${longestWaitMs / 1000} s`;
    await new Promise<void>((begin, reject) => {
      const waiting = { begin, reject };
      this.#waiting.add(waiting);
      setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(new DatabaseUnavailableError(message));
      }, longestWaitMs).unref();
    });
  }

  #idleSession(): Session | undefined {
    for (const session of this.#idle) {
      this.#idle.delete(session);
      if (session.url !== this.#location.url) this.#end(session);
      else if (!session.isClosed) return session;
    }
    return undefined;
  }

  async #opened(): Promise<Session> {
    const session = await openSession(this.#location);
    session.onClose(() => void this.#idle.delete(session));
    return session;
  }

  #giveBack(session: Session): void {
    if (session.isClosed) return;
    if (this.#isClosed) this.#end(session);
    else this.#idle.add(session);
  }

  #end(session: Session): void {
    this.#idle.delete(session);
    const closing = session.close().finally(() => this.#closings.delete(closing));
    this.#closings.add(closing);
  }
}

const closedError = (): DatabaseUnavailableError =>
  new DatabaseUnavailableError('the connections to the database are closed');
