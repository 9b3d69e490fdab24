import type { Socket } from 'node:net';
import postgres from 'postgres';
import type { Secret } from '../../secret.ts';
import type { Row, Rows, Value } from '../sql/row.ts';
import { Query } from '../sql/statement.ts';
import { sessionError, connectionCut, DatabaseError, ConnectionError } from './database-errors.ts';
import type { DatabaseUrl } from './database-url.ts';

const defaultAnswerMs = 5000;

/** PostgreSQL's numbers of its types (`pg_type.dat`), and 0, with which PostgreSQL finds the type of a parameter by itself. */
const unspecified = 0;
const types = { bytea: 17, int8: 20, text: 25, numeric: 1700 } as const;

const typeOf = (value: Exclude<Value, null>): number => {
  if (typeof value === 'number') return types.int8;
  return typeof value === 'string' ? types.text : types.bytea;
};

/** A statement whose parameters get the types of the columns into which they are inserted, and not those of their values. */
export class ColumnQuery extends Query {}

interface Login {
  readonly url: DatabaseUrl;
  readonly password: Secret | undefined;
}

/**
 * A session with the database on a socket that is open, over which the library `postgres` speaks the protocol. The session ends with
 * its socket: the library may not connect by itself, since `openSession` chooses the host, the password and the certificates.
 */
export class Session {
  readonly url: DatabaseUrl;
  readonly #socket: Socket;
  readonly #client: postgres.Sql;
  /** Rejects each statement that was sent and not answered so far. */
  readonly #unanswered = new Set<(closed: ConnectionError) => void>();
  /** Behind a pooler nothing is prepared, since the next statement may run on another connection; known once `begin` has resolved. */
  #isPooled = true;

  constructor(socket: Socket, { url, password }: Login) {
    this.url = url;
    this.#socket = socket;
    this.#client = clientOn(socket, { url, password });
    // The library rejects first, since it knows the reason; but it forgets statements that wait for the description of another one.
    socket.once('close', () =>
      setImmediate(() => this.#unanswered.forEach((reject) => reject(connectionCut()))),
    );
    socket.on('timeout', () => socket.destroy(unanswered(socket)));
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  /**
   * Logs in, and has the state of the server checked before anything is sent that an old one does not know. Where the process that
   * answers is not the one that the login named, a pooler is between. Otherwise the server is told to plan each statement each time: a
   * plan from when the tables were empty would read them whole.
   */
  async begin(check: (state: Row) => void): Promise<void> {
    const rows = await this.#ask(sessionState);
    const [row = {}] = rows;
    check(row);
    this.#isPooled = row['pid'] !== rows.state.pid;
    if (!this.#isPooled) await this.#ask(planEachTime);
  }

  /**
   * Sends statements without waiting between them, and gives the rows of each. Where one fails, those after it have run all the same, or
   * failed as well inside a transaction. `answerMs`: how long the server may send nothing.
   */
  async run(statements: readonly Query[], answerMs = defaultAnswerMs): Promise<readonly Rows[]> {
    this.#socket.setTimeout(answerMs);
    const results = await Promise.allSettled(statements.map((statement) => this.#answerOrClose(statement)));
    this.#socket.setTimeout(0);
    // The first failure in order is the cause of the later ones.
    return results.map((result) => {
      if (result.status === 'fulfilled') return result.value;
      const broken = sessionError(result.reason);
      if (broken === undefined) throw result.reason;
      this.drop();
      throw broken;
    });
  }

  #answerOrClose(statement: Query): Promise<Rows> {
    return new Promise((resolve, reject) => {
      this.#unanswered.add(reject);
      void this.#ask(statement)
        .then(resolve, reject)
        .finally(() => this.#unanswered.delete(reject));
    });
  }

  /** Closes the connection without a word to the server, which rolls an open transaction back. */
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
      return this.#client.typed(value, statement instanceof ColumnQuery ? unspecified : typeOf(value));
    });
    try {
      if (this.isClosed) throw connectionCut();
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

const sessionState = new Query(`SELECT current_setting('server_version') AS version,
  current_setting('transaction_read_only') AS read_only, pg_is_in_recovery() AS is_standby, pg_backend_pid() AS pid`);

const planEachTime = new Query(`SELECT set_config('plan_cache_mode', 'force_custom_plan', false)`);

/** Makes the library use this socket, once, and nothing from the environment: what is left out here it would read from there. */
function clientOn(socket: Socket, { url, password }: Login): postgres.Sql {
  let isUsed = false;
  const options = {
    socket: (): Socket => {
      if (isUsed || socket.destroyed) throw connectionCut();
      isUsed = true;
      return socket;
    },
    user: url.user,
    // SASLprep (RFC 4013) does the same but for rare characters. An empty text, unlike a function, would make the library read PGPASSWORD.
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
    // These limits are of the pool and of `openSession`.
    ...{ idle_timeout: null, max_lifetime: null, connect_timeout: null, keep_alive: null },
    ...{ ssl: false, sslnegotiation: null, debug: false, prepare: true, publications: '', max_pipeline: 100 },
    // The library knows no `any`; with one host, `prefer-standby` refuses no server.
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

/** Makes an error of the library one of this folder, without the statement's values and PostgreSQL's detail, which may show a row. */
function ownError(error: unknown): unknown {
  if (error instanceof postgres.PostgresError) return new DatabaseError(error.message, error.code);
  const { code } = error as { readonly code?: unknown };
  if (code === 'SASL_SIGNATURE_MISMATCH')
    return new ConnectionError('it does not prove that it knows the password');
  if (typeof code === 'string' && code.startsWith('CONNECTION_')) return connectionCut();
  if (error instanceof ConnectionError) return new ConnectionError(error.message, error.kind);
  return error;
}
