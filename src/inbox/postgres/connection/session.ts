import type { Socket } from 'node:net';
import { serialize } from 'pg-protocol';
import { Parser } from 'pg-protocol/dist/parser.js';
import type { Secret } from '../../../secret.ts';
import type { SocketFaultKind } from '../../problems.ts';
import type { Row, Rows, Sql, Statement } from '../sql.ts';
import { Authentication, type AuthenticationRequest } from './authentication.ts';
import type { Connection } from './database-connections.ts';
import { brokenConnection, DatabaseError, SocketFault } from './database-errors.ts';
import type { DatabaseUrl } from './database-url.ts';

/** How long a statement may go without a byte of answer, in milliseconds. */
const usualAnswerMs = 5000;

interface Column {
  readonly name: string;
  readonly dataTypeID: number;
}

/** PostgreSQL's number of its type `bool`. */
const booleanType = 16;

/** A message from the server, as `pg-protocol` gives it; of other kinds nothing is needed. */
type Message =
  | AuthenticationRequest
  | { readonly name: 'rowDescription'; readonly fields: readonly Column[] }
  | { readonly name: 'dataRow'; readonly fields: readonly (string | null)[] }
  | { readonly name: 'error'; readonly code?: string; readonly message?: string }
  | { readonly name: 'readyForQuery'; readonly status: string };

/** What is waited for: the answers to one message. */
interface Asked {
  readonly resolve: (results: readonly Rows[]) => void;
  readonly reject: (error: unknown) => void;
  /** Of each statement that gives rows. */
  readonly results: Row[][];
  columns: readonly Column[];
  failure: Error | undefined;
}

interface Login {
  readonly url: DatabaseUrl;
  readonly password: Secret | undefined;
}

/** One session with the database, on a socket that is open. It ends with the socket, and never connects anew. */
export class Session implements Connection {
  /** That it was opened with. */
  readonly url: DatabaseUrl;
  readonly #socket: Socket;
  readonly #parser = new Parser();
  readonly #authentication: Authentication;
  #asked: Asked | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isIdle = false;
  #isOpen = false;

  private constructor(socket: Socket, { url, password }: Login) {
    this.url = url;
    this.#socket = socket;
    this.#authentication = new Authentication({ user: url.user, password });
    let fault: Error | undefined;
    socket.on('error', (error) => (fault = error));
    socket.on('data', (piece: Buffer) => this.#received(piece));
    socket.on('close', () => this.#settle(fault ?? new SocketFault('closed')));
  }

  /** Logs in. Rejects with what the server says, or with what became of the socket. */
  static async open(socket: Socket, login: Login): Promise<Session> {
    const { url } = login;
    const session = new Session(socket, login);
    const parameters = {
      user: url.user,
      database: url.database,
      application_name: url.applicationName,
      ...(url.options === undefined ? {} : { options: url.options }),
    };
    const { connectTimeoutMs } = url;
    await session.#ask(serialize.startup(parameters), 'connect time-out', connectTimeoutMs);
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
      this.#socket.end(serialize.end());
    });
  }

  #ask(message: Buffer, timeOut: SocketFaultKind, ms: number): Promise<readonly Rows[]> {
    return new Promise((resolve, reject) => {
      if (this.isClosed || this.#asked !== undefined) {
        reject(new SocketFault('closed'));
        return;
      }
      const none = { results: [], columns: [], failure: undefined };
      this.#asked = { resolve, reject, ...none };
      this.#isIdle = false;
      this.#timer = setTimeout(() => this.#socket.destroy(new SocketFault(timeOut, ms)), ms);
      this.#socket.write(message);
    });
  }

  #received(piece: Buffer): void {
    this.#timer?.refresh();
    try {
      this.#parser.parse(piece, (message) => this.#take(message as Message));
    } catch (error) {
      // It is no database that answers so, or it asks for a proof that is not known here.
      const fault = new SocketFault(this.#isOpen ? 'closed' : 'unknown authentication');
      this.#socket.destroy(error instanceof SocketFault ? error : fault);
    }
  }

  #take(message: Message): void {
    if (message.name.startsWith('authentication')) this.#authenticate(message as AuthenticationRequest);
    const asked = this.#asked;
    if (asked === undefined) return;
    switch (message.name) {
      case 'rowDescription':
        asked.columns = message.fields;
        asked.results.push([]);
        return;
      case 'dataRow':
        asked.results.at(-1)?.push(rowOf(message.fields, asked.columns));
        return;
      case 'error':
        asked.failure = new DatabaseError(message.message ?? '', message.code ?? '');
        return;
      case 'readyForQuery':
        this.#isIdle = message.status === 'I';
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

  #authenticate(request: AuthenticationRequest): void {
    if (this.#isOpen) throw new SocketFault('unknown authentication');
    const answer = this.#authentication.answer(request);
    if (answer === undefined) return;
    Promise.resolve(answer).then(
      (bytes) => this.#socket.write(bytes),
      (error: unknown) => this.#socket.destroy(error as Error),
    );
  }
}

const describe = serialize.describe({ type: 'P' });

/**
 * Parse, Bind, Describe and Execute of each statement, unnamed: a pooler would not keep a name. One Sync ends them all,
 * so that they are answered in one round trip, and that a failed one keeps those behind it from running.
 */
const extendedQuery = (statements: readonly Statement[]): Buffer =>
  Buffer.concat([
    ...statements.flatMap(({ text, parameters }) => [
      serialize.parse({ text, types: parameters.map(({ type }) => type) }),
      serialize.bind({ values: parameters.map(({ value }) => value) }),
      describe,
      serialize.execute(),
    ]),
    serialize.sync(),
  ]);

function rowOf(values: readonly (string | null)[], columns: readonly Column[]): Row {
  const row: Record<string, unknown> = {};
  columns.forEach(({ name, dataTypeID }, i) => {
    const value = values[i] ?? null;
    row[name] = dataTypeID === booleanType && value !== null ? value === 't' : value;
  });
  return row;
}
