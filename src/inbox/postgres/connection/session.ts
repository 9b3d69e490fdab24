import type { Socket } from 'node:net';
import type { Secret } from '../../../secret.ts';
import type { SocketFaultKind } from '../../problems.ts';
import type { Row, Rows, Sql } from '../sql.ts';
import { Authentication } from './authentication.ts';
import type { Connection } from './database-connections.ts';
import { brokenConnection, DatabaseError, SocketFault } from './database-errors.ts';
import type { DatabaseUrl } from './database-url.ts';
import {
  type Column,
  columnsIn,
  extendedQuery,
  fieldsIn,
  type Message,
  MessageReader,
  rowIn,
  startup,
  tagIn,
  terminate,
} from './messages.ts';

/** How long a statement may go without a byte of answer, in milliseconds. */
const usualAnswerMs = 5000;

/** What is waited for: the answers to one message. */
interface Asked {
  readonly resolve: (results: readonly Rows[]) => void;
  readonly reject: (error: unknown) => void;
  /** Of each statement that gives rows. */
  readonly results: Row[][];
  columns: readonly Column[];
  /** The server warned while the statement ran that is to be completed next. */
  isWarned: boolean;
  failure: Error | undefined;
}

/** One session with the database, on a socket that is open. It ends with the socket, and never connects anew. */
export class Session implements Connection {
  /** That it was opened with. */
  readonly url: DatabaseUrl;
  readonly #socket: Socket;
  readonly #messages = new MessageReader();
  readonly #authentication: Authentication;
  #asked: Asked | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isIdle = false;
  #isOpen = false;

  private constructor(socket: Socket, url: DatabaseUrl, password: Secret | undefined) {
    this.url = url;
    this.#socket = socket;
    this.#authentication = new Authentication({ user: url.user, password });
    let fault: Error | undefined;
    socket.on('error', (error) => (fault = error));
    socket.on('data', (piece: Buffer) => this.#received(piece));
    socket.on('close', () => this.#settle(fault ?? new SocketFault('closed')));
  }

  /** Logs in. Rejects with what the server says, or with what became of the socket. */
  static async open(socket: Socket, url: DatabaseUrl, password: Secret | undefined): Promise<Session> {
    const session = new Session(socket, url, password);
    const parameters = {
      user: url.user,
      database: url.database,
      application_name: url.applicationName,
      client_encoding: 'UTF8',
      ...(url.options === undefined ? {} : { options: url.options }),
    };
    const { connectTimeoutMs } = url;
    await session.#ask(startup(parameters), 'connect time-out', connectTimeoutMs);
    session.#isOpen = true;
    return session;
  }

  /** Whether every statement was answered, and no transaction is open. */
  get isIdle(): boolean {
    return this.#isIdle && this.#asked === undefined;
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  onClose(closed: () => void): void {
    this.#socket.once('close', closed);
  }

  async run(statements: Sql, answerMs = usualAnswerMs): Promise<readonly Rows[]> {
    try {
      return await this.#ask(extendedQuery(statements.statements), 'answer time-out', answerMs);
    } catch (error) {
      const broken = brokenConnection(error);
      if (broken === undefined) throw error;
      this.drop();
      throw broken;
    }
  }

  drop(): void {
    this.#socket.destroy();
  }

  /** Ends the session with the database, in `graceMs` milliseconds at most. */
  close(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.closed) {
        resolve();
        return;
      }
      const timer = setTimeout(() => this.drop(), graceMs);
      this.#socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      this.#socket.end(terminate);
    });
  }

  #ask(message: Buffer, timeOut: SocketFaultKind, ms: number): Promise<readonly Rows[]> {
    return new Promise((resolve, reject) => {
      if (this.isClosed || this.#asked !== undefined) {
        reject(new SocketFault('closed'));
        return;
      }
      const none = { results: [], columns: [], isWarned: false, failure: undefined };
      this.#asked = { resolve, reject, ...none };
      this.#isIdle = false;
      this.#timer = setTimeout(() => this.#socket.destroy(new SocketFault(timeOut, ms)), ms);
      this.#socket.write(message);
    });
  }

  #received(piece: Buffer): void {
    this.#timer?.refresh();
    try {
      for (const message of this.#messages.read(piece)) this.#take(message);
    } catch (error) {
      // It is no database that answers so.
      this.#socket.destroy(error instanceof Error ? error : new SocketFault('closed'));
    }
  }

  #take({ kind, body }: Message): void {
    const asked = this.#asked;
    switch (kind) {
      case 'R':
        this.#authenticate(body);
        return;
      case 'T':
        if (asked === undefined) return;
        asked.columns = columnsIn(body);
        asked.results.push([]);
        return;
      case 'D':
        asked?.results.at(-1)?.push(rowIn(body, asked.columns));
        return;
      case 'C':
        if (asked !== undefined) completed(asked, tagIn(body));
        return;
      case 'N':
        if (asked !== undefined) asked.isWarned ||= fieldsIn(body).get('V') === 'WARNING';
        return;
      case 'E':
        if (asked !== undefined) asked.failure = new DatabaseError(fieldsIn(body));
        return;
      case 'Z':
        this.#isIdle = body.toString('latin1') === 'I';
        this.#settle(undefined);
    }
  }

  /** What the server said last is why it closed. */
  #settle(fault: Error | undefined): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const asked = this.#asked;
    if (asked === undefined) return;
    this.#asked = undefined;
    const failure = asked.failure ?? fault;
    if (failure === undefined) asked.resolve(asked.results);
    else asked.reject(failure);
  }

  #authenticate(body: Buffer): void {
    if (this.#isOpen) throw new SocketFault('unknown authentication');
    const answer = this.#authentication.answer(body);
    if (answer === undefined) return;
    Promise.resolve(answer).then(
      (bytes) => this.#socket.write(bytes),
      (error: unknown) => this.#socket.destroy(error as Error),
    );
  }
}

/**
 * A COMMIT is an acknowledgement only where nothing was said against it: a wait for a synchronous standby that somebody
 * cancelled ends with a warning, and the transaction of a statement that failed is rolled back.
 */
function completed(asked: Asked, tag: string): void {
  if (tag === 'COMMIT' && asked.isWarned) asked.failure = new SocketFault('unconfirmed copy');
  asked.isWarned = false;
}
