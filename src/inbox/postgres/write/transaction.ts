import type { Connection, Connections } from '../connection/database-connections.ts';
import { isAnswered } from '../postgres-errors.ts';
import { integerLiteral, type Rows, type Sql, sql, statements } from '../sql.ts';

/** What a transaction does for several works at once: it asks, decides, and writes. */
export interface Plan<Result> {
  /** Statements that lock and read, by name, in the order in which they run. Each gives rows. */
  readonly questions: Readonly<Record<string, Sql>>;
  /** The connection is for what only the answers show to be needed. */
  decide(answers: Answers, connection: Connection): Promise<Decision<Result>>;
}

/** The rows that were answered to the questions of a plan, by their names. */
export type Answers = Readonly<Record<string, Rows>>;

export type Decision<Result> =
  /** `statements`: without COMMIT. `results`: one for each work, in order. */
  | { readonly kind: 'write'; readonly statements: Sql; readonly results: readonly Result[] }
  /** Nothing is written: this plan is to be carried out instead. */
  | { readonly kind: 'again'; readonly plan: Plan<Result> };

/** How long a statement may take, and wait for a lock, in milliseconds: less than the wait for its answer. */
const statementMs = 4500;
const lockMs = 4000;

/** After so long without the next statement the database ends the session: its receiver has gone. */
const abandonedMs = 10_000;

/**
 * Makes the transaction depend on no setting of the role, the database or a pooler, and leaves none behind. An acknowledged lead
 * must survive a power cut: `synchronous_commit` is `on`, or what is stronger. An error writes no values into the server's log.
 */
const begin: Sql = sql`BEGIN ISOLATION LEVEL READ COMMITTED; SELECT concat(set_config('statement_timeout', '${integerLiteral(statementMs)}', true), set_config('lock_timeout', '${integerLiteral(lockMs)}', true),
  set_config('idle_in_transaction_session_timeout', '${integerLiteral(abandonedMs)}', true), set_config('jit', 'off', true),
  set_config('log_parameter_max_length_on_error', '0', true),
  set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
    ELSE 'on' END, true)) AS settings;`;

/** Begins a transaction, and gives the rows of the statements that follow at once. */
export async function openTransaction(connection: Connection, first?: Sql): Promise<readonly Rows[]> {
  const [, ...answers] = await connection.run(statements(begin, first));
  return answers;
}

/** Does what is done inside an open transaction. Where it fails, and the server answered, the transaction is rolled back. */
export async function orRollBack<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Where that fails, too, the connection is not used again.
    if (isAnswered(error)) await connection.run(sql`ROLLBACK`);
    throw error;
  }
}

/** `work` gets what `first` answers, and ends the transaction. */
export const inTransaction = <T>(
  connections: Connections,
  first: Sql | undefined,
  work: (connection: Connection, answers: readonly Rows[]) => Promise<T>,
): Promise<T> =>
  connections.use((connection) =>
    orRollBack(connection, async () => work(connection, await openTransaction(connection, first))),
  );

/** Ends the open transaction with that. */
export async function runToCommit(connection: Connection, change?: Sql): Promise<void> {
  await connection.run(statements(change, sql`COMMIT;`));
}

/** Writes that in a transaction of its own. */
export const commit = (connections: Connections, change: Sql): Promise<void> =>
  inTransaction(connections, undefined, (connection) => runToCommit(connection, change));
