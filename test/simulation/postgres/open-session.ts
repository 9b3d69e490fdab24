import type { Connection } from '../../../src/inbox/postgres/connection/database-connections.ts';
import {
  brokenConnection,
  DatabaseError,
  openingError,
  SocketFault,
} from '../../../src/inbox/postgres/connection/database-errors.ts';
import type { DatabaseLocation } from '../../../src/inbox/postgres/connection/database-location.ts';
import type { DatabaseUrl } from '../../../src/inbox/postgres/connection/database-url.ts';
import type { Rows, Sql } from '../../../src/inbox/postgres/sql.ts';
import type { Answer, PostgresLink, Work } from './server.ts';

/** What a process of the world finds the database by; undefined outside of one. */
declare const simulatedDatabase: { connect(): Promise<PostgresLink> };

/** As the product's own, which speaks to a socket: its usual time-outs. */
const usualAnswerMs = 5000;
const connectMs = 5000;

/** A connection that may be asked for what the simulated database knows no statement for. */
export interface AskingConnection extends Connection {
  ask<T>(work: Work<T>): Promise<T>;
}

/** In place of the session that speaks PostgreSQL's protocol. */
class Session implements AskingConnection {
  readonly url: DatabaseUrl;
  readonly #link: PostgresLink;
  #isWaiting = false;

  constructor(link: PostgresLink, url: DatabaseUrl) {
    this.#link = link;
    this.url = url;
  }

  get isIdle(): boolean {
    return !this.#isWaiting && !this.#link.isInTransaction;
  }

  get isClosed(): boolean {
    return this.#link.isClosed;
  }

  onClose(closed: () => void): void {
    this.#link.onClose(closed);
  }

  run(statements: Sql, answerMs = usualAnswerMs): Promise<readonly Rows[]> {
    return this.#asked((settle) => this.#link.send(statements.statements, settle), answerMs);
  }

  ask<T>(work: Work<T>): Promise<T> {
    return this.#asked((settle) => this.#link.ask(work, settle), usualAnswerMs);
  }

  drop(): void {
    this.#link.end();
  }

  close(): Promise<void> {
    this.drop();
    return Promise.resolve();
  }

  async #asked<T>(send: (settle: (answer: Answer<T>) => void) => void, answerMs: number): Promise<T> {
    try {
      if (this.isClosed) throw new SocketFault('closed');
      this.#isWaiting = true;
      const answer = await inTime(
        new Promise<Answer<T>>((resolve) => send(resolve)),
        new SocketFault('answer time-out', answerMs),
        answerMs,
      );
      if (answer === undefined) throw new SocketFault('closed');
      if ('code' in answer) throw new DatabaseError('the database says no', answer.code);
      return answer.rows;
    } catch (error) {
      const broken = brokenConnection(error);
      if (broken === undefined) throw error;
      this.drop();
      throw broken;
    } finally {
      this.#isWaiting = false;
    }
  }
}

async function inTime<T>(work: Promise<T>, fault: SocketFault, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(fault), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** In place of the product's own. */
export async function openSession({ url }: DatabaseLocation): Promise<Session> {
  const [host] = url.hosts;
  try {
    return new Session(
      await inTime(simulatedDatabase.connect(), new SocketFault('connect time-out', connectMs), connectMs),
      url,
    );
  } catch (error) {
    if (host === undefined) throw error;
    throw openingError(error, { url, host, hasPassword: false });
  }
}
