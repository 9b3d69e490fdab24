import type { Connection } from '../connection/database-connections.ts';
import type { Rows } from '../sql/result-row.ts';
import type { Sql } from '../sql/sql.ts';

/** What a transaction does for several works at once: it asks, decides, and writes. */
export interface Plan<Work, Result> {
  /**
   * Statements that lock and read, by name, in the order in which they run. Each gives rows. `unconfirmed` is the question
   * of the lane's `Confirmations`.
   */
  readonly questions: Readonly<Record<string, Sql>>;
  /** `answers` by the name of the question. The connection is for what only the answers show to be needed. */
  decide(answers: Readonly<Record<string, Rows>>, connection: Connection): Promise<Decision<Work, Result>>;
}

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
  /** Those of them that another lane had accepted without knowing it. */
  readonly takenOver: readonly number[];
}
