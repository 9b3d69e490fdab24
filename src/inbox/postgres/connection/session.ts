import type { Socket } from 'node:net';
import postgres, { type Options, type Sql } from 'postgres';
import type { Secret } from '../../../secret.ts';
import type { Connection } from './database-connections.ts';
import { brokenConnection, SocketFault } from './database-errors.ts';
import type { DatabaseUrl } from './database-url.ts';

/** How long a statement may go without a byte of answer, in milliseconds. */
const usualAnswerMs = 5000;

type Rows = Awaited<ReturnType<Connection['run']>>[number] & { readonly columns?: unknown };

/** One session with the database, on a socket that is open. It ends with the socket, and never connects anew. */
export class Session implements Connection {
  /** That it was opened with. */
  readonly url: DatabaseUrl;
  readonly #socket: Socket;
  readonly #watch: AnswerWatch;
  readonly #sql: Sql;

  constructor(socket: Socket, url: DatabaseUrl, password: Secret | undefined) {
    this.url = url;
    this.#socket = socket;
    this.#watch = new AnswerWatch(socket);
    this.#sql = postgres(clientOptions(socket, this.#watch, url, password));
  }

  /** Whether every statement was answered, and no transaction is open. */
  get isIdle(): boolean {
    return this.#watch.isIdle;
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  onClose(closed: () => void): void {
    this.#socket.once('close', closed);
  }

  async run(statements: { readonly text: string }, answerMs = usualAnswerMs): Promise<readonly Rows[]> {
    this.#watch.limit(answerMs);
    const answered = await this.#send(statements.text);
    // One statement gives its rows, several give a list of such lists.
    const results = answered.some((one) => Array.isArray(one)) ? answered : [answered];
    return (results as readonly Rows[]).filter(({ columns }) => columns !== undefined);
  }

  async #send(text: string): Promise<readonly (Rows | Rows[number])[]> {
    try {
      return await this.#sql.unsafe(text).simple();
    } catch (error) {
      const broken = brokenConnection(error);
      if (broken !== undefined && this.#watch.isOpen) {
        this.drop();
        throw broken;
      }
      throw error;
    }
  }

  drop(): void {
    this.#socket.destroy();
  }

  /** Ends the session with the database, in `graceMs` milliseconds at most. */
  async close(graceMs: number): Promise<void> {
    await this.#sql.end({ timeout: graceMs / 1000 });
    this.drop();
  }
}

type ClientOptions = Options<Record<string, never>> & {
  readonly socket: () => Socket;
  readonly max_pipeline: number;
};

/** Everything is given that postgres.js would read from the environment otherwise. */
function clientOptions(
  socket: Socket,
  watch: AnswerWatch,
  url: DatabaseUrl,
  password: Secret | undefined,
): ClientOptions {
  let isTaken = false;
  return {
    socket() {
      if (isTaken) throw new SocketFault('closed');
      isTaken = true;
      return socket;
    },
    // The socket is there already: two hosts without a name keep PGHOST out, and let the next option do nothing.
    host: ',',
    port: 5432,
    // Undefined would let postgres.js read PGTARGETSESSIONATTRS, and go from host to host without an end.
    target_session_attrs: 'prefer-standby',
    user: url.user,
    database: url.database,
    // Never undefined, or PGPASSWORD would be read again.
    password: () => password?.reveal() ?? '',
    ssl: false,
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: url.connectTimeoutMs / 1000,
    keep_alive: null,
    backoff: false,
    max_pipeline: 100,
    // A pooler in transaction mode keeps no statement for the next transaction.
    prepare: false,
    fetch_types: false,
    publications: '',
    connection: { application_name: url.applicationName },
    onnotice: () => undefined,
    // Called when a statement is sent.
    debug: () => watch.sent(),
  };
}

/** PostgreSQL, "Message Formats": ReadyForQuery, up to its last byte, the state of the transaction. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);
const messageBytes = readyForQuery.length + 1;
const isIdleState = 'I'.charCodeAt(0);

/**
 * Watches one connection's answers: postgres.js waits for ever for a database that does not answer. A statement without a
 * byte of answer for so long destroys the socket.
 */
class AnswerWatch {
  readonly #socket: Socket;
  /** The end of what came last. */
  #tail: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  #limitMs = 0;
  #isIdle = false;
  #isOpen = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (piece: Buffer) => this.#received(piece));
    socket.on('close', () => this.#stop());
  }

  /** Whether the database has let the user in. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether every statement was answered, and no transaction is open. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** For statements from now on, in milliseconds. */
  limit(ms: number): void {
    this.#limitMs = ms;
  }

  /** A statement goes out now. */
  sent(): void {
    this.#isIdle = false;
    if (this.#timer === undefined && !this.#socket.destroyed) this.#start();
  }

  #start(): void {
    const ms = this.#limitMs;
    this.#timer = setTimeout(() => {
      this.#socket.destroy(new SocketFault('answer time-out', ms));
    }, ms);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #received(piece: Buffer): void {
    const end = piece.length >= messageBytes ? piece : Buffer.concat([this.#tail, piece]);
    this.#tail = Buffer.from(end.subarray(-messageBytes));
    const isReady = this.#tail.subarray(0, -1).equals(readyForQuery);
    if (!isReady) {
      this.#timer?.refresh();
      return;
    }
    this.#isOpen = true;
    this.#isIdle = this.#tail.at(-1) === isIdleState;
    this.#stop();
  }
}
