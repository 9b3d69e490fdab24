import { DatabaseUnavailableError } from './database-errors.ts';
import type { DatabaseLocation } from './database-location.ts';
import { openSession } from './open-session.ts';
import type { Session } from './session.ts';

interface WaitingCaller {
  readonly begin: () => void;
  readonly reject: (error: Error) => void;
}

const longestWaitMs = 5000;

/**
 * Lends each session to one caller at a time. A caller first waits for its turn, since only so many may have a session. It gets one
 * that is idle, or a new one, and gives it back; then the next caller that waits has its turn.
 */
export class SessionPool {
  readonly #location: DatabaseLocation;
  readonly #maxSessions: number;
  /** Sessions that were given back. They may have been closed since then, or have a login that was renewed. */
  readonly #idle = new Set<Session>();
  /** Sessions that are closing; `close` waits for them. */
  readonly #closings = new Set<Promise<void>>();
  /** How many callers have their turn, and those that wait for it, in order. */
  #callers = 0;
  readonly #waiting = new Set<WaitingCaller>();
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
    await this.#waitForTurn();
    try {
      const session = this.#takeIdle() ?? (await openSession(this.#location));
      try {
        return await work(session);
      } finally {
        this.#giveBack(session);
      }
    } finally {
      this.#endTurn();
    }
  }

  /** Ends idle sessions at once, and the others as they come back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting) reject(closedError());
    for (const session of this.#idle) this.#end(session);
    this.#idle.clear();
    await Promise.all(this.#closings);
  }

  async #waitForTurn(): Promise<void> {
    if (this.#isClosed) throw closedError();
    if (this.#callers < this.#maxSessions) {
      this.#callers += 1;
      return;
    }
    const message = `all ${this.#maxSessions} connections to the database were in use for ${longestWaitMs / 1000} s`;
    await new Promise<void>((begin, reject) => {
      const caller = { begin, reject };
      this.#waiting.add(caller);
      setTimeout(() => {
        this.#waiting.delete(caller);
        reject(new DatabaseUnavailableError(message));
      }, longestWaitMs).unref();
    });
  }

  #endTurn(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#callers -= 1;
    else {
      this.#waiting.delete(next);
      next.begin();
    }
  }

  #takeIdle(): Session | undefined {
    for (const session of this.#idle) {
      this.#idle.delete(session);
      if (session.url !== this.#location.url) this.#end(session);
      else if (!session.isClosed) return session;
    }
    return undefined;
  }

  #giveBack(session: Session): void {
    if (this.#isClosed) this.#end(session);
    else this.#idle.add(session);
  }

  #end(session: Session): void {
    if (session.isClosed) return;
    const closing = session.close().finally(() => this.#closings.delete(closing));
    this.#closings.add(closing);
  }
}

const closedError = (): DatabaseUnavailableError =>
  new DatabaseUnavailableError('the connections to the database are closed');
