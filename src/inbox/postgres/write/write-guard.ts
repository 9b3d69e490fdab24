import { copiesIn } from '../acknowledgement-copies.ts';
import type { Connection } from '../connection/database-connections.ts';
import { DatabaseUnavailableError } from '../connection/database-errors.ts';
import type { DatabaseProblem } from '../../problems.ts';
import { isAnswered } from '../postgres-errors.ts';
import { type Row, type Rows, type Sql, sql, statements } from '../sql.ts';
import { begin } from './transaction.ts';

/** What has to hold of the server in each transaction that writes: a pooler may have another session for each. */
export class WriteGuard {
  /** Of an acknowledgement. */
  readonly #copies: number;

  constructor(copies: number) {
    this.#copies = copies;
  }

  /** Throws a `DatabaseUnavailableError` where nothing may be acknowledged. `row`: the answer to `guardQuestion`. */
  check(row: Row): void {
    const copies = copiesIn(row);
    if (copies >= this.#copies) return;
    const found: DatabaseProblem = { kind: 'database-too-few-copies', copies, wanted: this.#copies };
    throw new DatabaseUnavailableError(found);
  }
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

const guardColumn = 'standby_names';

const guardQuestion: Sql = sql`SELECT current_setting('synchronous_standby_names') AS standby_names;`;

/**
 * Begins a transaction, and gives the rows of the statements that follow at once. `before`: statements in front of it. Throws
 * what the guard throws, once the transaction was rolled back.
 */
export async function openTransaction(
  connection: Connection,
  guard: WriteGuard,
  first?: Sql,
  before?: Sql,
): Promise<readonly Rows[]> {
  const answers = await connection.run(statements(before, begin, guardQuestion, first));
  const at = answers.findIndex(([row]) => row !== undefined && guardColumn in row);
  const [row] = answers[at] ?? [];
  if (row === undefined) throw new Error('the database gave less than was asked for');
  try {
    guard.check(row);
  } catch (error) {
    await connection.run(sql`ROLLBACK`);
    throw error;
  }
  return answers.slice(at + 1);
}
