import type { Connection } from '../connection/database-connections.ts';
import { integerLiteral, type Rows, type Sql, sql } from '../sql.ts';

/** What a transaction does for several works at once: it asks, decides, and writes. */
export interface Plan<Work, Result> {
  /**
   * Statements that lock and read, by name, in the order in which they run. Each gives rows. `unconfirmed` is the question
   * of the queue's `Confirmations`.
   */
  readonly questions: Readonly<Record<string, Sql>>;
  /** `answers` by the name of the question. The connection is for what only the answers show to be needed. */
  decide(answers: Readonly<Record<string, Rows>>, connection: Connection): Promise<Decision<Work, Result>>;
}

/** What was answered to the questions of a plan, by their names. */
export const answersTo = (
  { questions }: Pick<Plan<never, unknown>, 'questions'>,
  answers: readonly Rows[],
): Readonly<Record<string, Rows>> =>
  Object.fromEntries(Object.keys(questions).map((name, i) => [name, answers[i] ?? []]));

export type Decision<Work, Result> =
  | WriteDecision<Result>
  /** Nothing is written: this plan is to be carried out instead. */
  | { readonly kind: 'again'; readonly plan: Plan<Work, Result> }
  /** Nothing is written: these works are to be done a moment later, and the others now. */
  | { readonly kind: 'not yet'; readonly works: ReadonlySet<Work> };

export interface WriteDecision<Result> {
  readonly kind: 'write';
  /** Without COMMIT. */
  readonly statements: Sql;
  /** One for each work, in order. */
  readonly results: readonly Result[];
  /** Numbers of the first deliveries of the leads that are accepted now. */
  readonly accepted: readonly number[];
  /** Those of them that another queue had accepted without knowing it. */
  readonly takenOver: readonly number[];
}

/** How long a statement may take, and wait for a lock, in milliseconds: less than the wait for its answer. */
const statementMs = 4500;
const lockMs = 4000;

/** After so long without the next statement the database ends the session: its receiver has gone. */
const abandonedMs = 10_000;

export const begin: Sql = sql`BEGIN ISOLATION LEVEL READ COMMITTED;`;

/**
 * An expression that makes the open transaction depend on no setting of the role, the database or a pooler, and leaves none
 * behind. An acknowledged lead must survive a power cut: `synchronous_commit` is `on`, or what is stronger. A warning about
 * that is heard, and an error writes no values into the server's log.
 */
export const settings: Sql = sql`concat(set_config('statement_timeout', '${integerLiteral(statementMs)}', true), set_config('lock_timeout', '${integerLiteral(lockMs)}', true),
  set_config('idle_in_transaction_session_timeout', '${integerLiteral(abandonedMs)}', true), set_config('jit', 'off', true),
  set_config('client_min_messages', 'warning', true), set_config('log_parameter_max_length_on_error', '0', true),
  set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
    ELSE 'on' END, true))`;

/** A transaction of its own, not waited for until it is on disk: what it writes may be lost with the database. */
export const withoutDurability = (work: Sql): Sql =>
  sql`BEGIN; SET LOCAL synchronous_commit = off; SET LOCAL lock_timeout = '1s'; ${work} COMMIT;`;
