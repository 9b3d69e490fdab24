import type { Socket } from 'node:net';
import postgres from 'postgres';
import type { Secret } from '../../secret.ts';
import type { Row, Rows, Value } from '../sql/row.ts';
import { Query } from '../sql/statement.ts';
import { brokenConnection, connectionClosed, DatabaseError, ConnectionError } from './database-errors.ts';
import type { DatabaseUrl } from './connection/database-url.ts';

const usualAnswerMs = 5000;

/** PostgreSQL's numbers of its types (`pg_type.dat`). The type 0 leaves it to the statement. */
const types = { bytea: 17, int8: 20, text: 25, numeric: 1700 } as const;

const typeOf = (value: Exclude<Value, null>): number => {
  if (typeof value === 'number') return types.int8;
  return typeof value === 'string' ? types.text : types.bytea;
};

/** A statement whose parameters have the types of the columns that they go into. */
export class ColumnQuery extends Query {}

interface Login {
  readonly url: DatabaseUrl;
  readonly password: Secret | undefined;
}

/**
 * A session with the database, on a socket that is open. It ends with its socket: the library would connect again, which
 * the pool does instead, with the password, the certificates and the host of that moment.
 */
export class Session {
  readonly url: DatabaseUrl;
  readonly #socket: Socket;
  readonly #client: postgres.Sql;
  readonly #unanswered = new Set<(closed: ConnectionError) => void>();
  /** A pooler may run the next statement on another connection, on which nothing was prepared. */
  #isPooled = true;

  constructor(socket: Socket, { url, password }: Login) {
    this.url = url;
    this.#socket = socket;
    this.#client = clientOn(socket, { url, password });
    // The library knows why and comes first, but it forgets statements that wait for the description of another one.
    socket.once('close', () =>
      setImmediate(() => this.#unanswered.forEach((end) => end(connectionClosed()))),
    );
    socket.on('timeout', () => socket.destroy(unanswered(socket)));
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  onClose(closed: () => void): void {
    this.#socket.once('close', closed);
  }

  /**
   * Logs in, and finds out what the server is. The server is told to plan each statement each time, unless a pooler is before it: a plan that was made
   * while the tables were empty would read them whole.
   */
  async begin(): Promise<Row> {
    const state = await this.#ask(sessionState);
    const [row = {}] = state;
    this.#isPooled = row['pid'] !== state.state.pid;
    if (!this.#isPooled) await this.#ask(planEachTime);
    return row;
  }

  /**
   * Sends statements without waiting between them, and gives the rows of each. Where one fails, those behind it have run, or
   * failed as well inside a transaction. `answerMs`: how long they may go without a byte of answer.
   */
  async run(statements: readonly Query[], answerMs = usualAnswerMs): Promise<readonly Rows[]> {
    this.#socket.setTimeout(answerMs);
    // In order, so that the first failure is the one that the others follow from.
    const ends = await Promise.allSettled(statements.map((statement) => this.#answer(statement)));
    this.#socket.setTimeout(0);
    return ends.map((end) => {
      if (end.status === 'fulfilled') return end.value;
      const broken = brokenConnection(end.reason);
      if (broken === undefined) throw end.reason;
      this.drop();
      throw broken;
    });
  }

  /** Rejects also where the library settles nothing once the connection has closed. */
  #answer(statement: Query): Promise<Rows> {
    return new Promise((resolve, reject) => {
      this.#unanswered.add(reject);
      void this.#ask(statement)
        .then(resolve, reject)
        .finally(() => this.#unanswered.delete(reject));
    });
  }

  drop(): void {
    this.#socket.destroy();
  }

  async close(): Promise<void> {
    await this.#client.end({ timeout: 0.5 });
    this.drop();
  }

  async #ask(statement: Query): Promise<postgres.RowList<Row[]>> {
    const values = statement.values.map((value) => {
      if (value === null) return null;
      return this.#client.typed(value, statement instanceof ColumnQuery ? 0 : typeOf(value));
    });
    try {
      if (this.isClosed) throw connectionClosed();
      return await this.#client.unsafe<Row[]>(statement.text, values as postgres.ParameterOrJSON<never>[], {
        prepare: !this.#isPooled,
        // Without parameters the library would use the protocol that takes several statements in one text.
        ...{ simple: false },
      });
    } catch (error) {
      throw ownError(error);
    }
  }
}

const unanswered = ({ timeout = 0 }: Socket): ConnectionError =>
  new ConnectionError(`a statement was not answered in ${timeout / 1000} s`);

const sessionState = new Query(`SELECT current_setting('transaction_read_only') AS read_only,
  pg_is_in_recovery() AS is_standby, pg_backend_pid() AS pid`);

const planEachTime = new Query(`SELECT set_config('plan_cache_mode', 'force_custom_plan', false)`);

function clientOn(socket: Socket, { url, password }: Login): postgres.Sql {
  let isTaken = false;
  const options = {
    socket: (): Socket => {
      if (isTaken || socket.destroyed) throw connectionClosed();
      isTaken = true;
      return socket;
    },
    user: url.user,
    // This is what SASLprep does, but for rare characters. It is a function, since the library looks into the environment for an empty text.
    pass: () => (password?.reveal() ?? '').normalize('NFKC'),
    database: url.database,
    connection: {
      application_name: url.applicationName,
      ...(url.options === undefined ? {} : { options: url.options }),
    },
    types: ownTypes,
    onnotice: () => undefined,
    max: 1,
    fetch_types: false,
    backoff: () => 0,
    // The pool looks after all of this.
    ...{ idle_timeout: null, max_lifetime: null, connect_timeout: null, keep_alive: null },
    // The library takes what is left out from the environment: PGSSL, PGDEBUG and others, which libpq does not know.
    ...{ ssl: false, sslnegotiation: null, debug: false, prepare: true, publications: '', max_pipeline: 100 },
    // PGTARGETSESSIONATTRS would be obeyed, and its value `any` refused. This one refuses no server if there is one host.
    ...{ host: [''], port: [0], target_session_attrs: 'prefer-standby' },
  };
  return postgres(options as object);
}

const ownTypes = {
  int8: { to: types.int8, from: [types.int8], serialize: String, parse: Number },
  numeric: { to: types.numeric, from: [types.numeric], serialize: String, parse: Number },
  bytea: { to: types.bytea, from: [types.bytea], serialize: hexOf, parse: bytesOf },
};

function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
}

/** The database writes bytes in hex, or as text with escapes where `bytea_output` says so. */
function bytesOf(text: string): Buffer {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex');
  const unescaped = text.replace(/\\(\\|\d{3})/g, (_, code: string) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8)),
  );
  return Buffer.from(unescaped, 'latin1');
}

/** The library adds the values of the statement to its errors, and PostgreSQL a detail that may show a row: neither is kept. */
function ownError(error: unknown): unknown {
  if (error instanceof postgres.PostgresError) return new DatabaseError(error.message, error.code);
  const { code } = error as { readonly code?: unknown };
  if (code === 'SASL_SIGNATURE_MISMATCH')
    return new ConnectionError('it does not prove that it knows the password');
  if (typeof code === 'string' && code.startsWith('CONNECTION_')) return connectionClosed();
  if (error instanceof ConnectionError) return new ConnectionError(error.message, error.kind);
  return error;
}
