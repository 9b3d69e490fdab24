import { copiesIn } from '../acknowledgement-copies.ts';
import type { Connection, Connections } from '../connection/database-connections.ts';
import { DatabaseUnavailableError } from '../connection/database-errors.ts';
import type { DatabaseProblem } from '../../problems.ts';
import { isAnswered } from '../postgres-errors.ts';
import { type Row, type Rows, type Sql, sql, statements } from '../sql.ts';
import { type NewTimeline, newestOf, type ServerTerms } from './server-terms.ts';
import { answersIn, begin, settings } from './transaction.ts';

/** What has to hold of the server in each transaction that writes: a pooler may have another session for each. */
export interface WriteGuard {
  /** Of an acknowledgement. */
  readonly copies: number;
  readonly schema: Sql;
  readonly terms: ServerTerms;
  /** A host that must not be written to is connected to after the others. */
  readonly avoid: (host: string) => void;
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

/** What was found where the open transaction of a connection began. */
const begun = new WeakMap<Connection, Row>();

/** Throws a `DatabaseUnavailableError` where another server was seen to be newer since the open transaction began. */
export function requireStillNewest(connection: Connection, guard: WriteGuard): void {
  const row = begun.get(connection);
  if (row !== undefined) requireFit(row, connection, guard);
}

/** Undefined: the server may be written to; or what is to be done before. */
function requireFit(row: Row, { host }: Connection, { terms, avoid }: WriteGuard): NewTimeline | undefined {
  const found = terms.check(row, host);
  if (found === undefined || found.kind === 'new timeline') return found;
  avoid(host);
  throw new DatabaseUnavailableError(found);
}

const guardColumn = 'guard';

const guardQuestion = ({ schema, terms }: WriteGuard): Sql =>
  sql`SELECT ${schema}.begin_1(${terms.seen}) AS guard;`;

/** How often a transaction is begun on a server whose term is raised meanwhile, by this receiver or another. */
const maxRaises = 3;

/**
 * Begins a transaction, and gives the rows of the statements that follow at once. `before`: statements in front of it. Throws
 * a `DatabaseUnavailableError` where nothing may be acknowledged: the transaction is rolled back, or its connection is not
 * used again.
 */
export async function openTransaction(
  connection: Connection,
  guard: WriteGuard,
  first?: Sql,
  before?: Sql,
): Promise<readonly Rows[]> {
  const [row, ...answers] = await beginOnNewest(connection, guard, first, before);
  await guard.terms.note(row);
  return answers;
}

/** A database that is written to in guarded transactions. */
interface Guarded {
  readonly connections: Connections;
  readonly guard: WriteGuard;
}

/** `work` gets what `first` answers, and ends the transaction. */
export const inTransaction = <T>(
  { connections, guard }: Guarded,
  first: Sql | undefined,
  work: (connection: Connection, answers: readonly Rows[]) => Promise<T>,
): Promise<T> =>
  connections.use((connection) =>
    orRollBack(connection, async () => work(connection, await openTransaction(connection, guard, first))),
  );

/** Writes that in a transaction of its own. `first`: what locks. */
export const commit = (database: Guarded, change: Sql, first?: Sql): Promise<void> =>
  inTransaction(database, first, (connection) => runToCommit(connection, database.guard, change));

/**
 * Ends the open transaction with that, unless another server was seen to be newer meanwhile. Whoever empties
 * `synchronous_standby_names` ends every wait for a standby without a word, so that copies that were required are looked for
 * behind COMMIT as well: throws a `DatabaseUnavailableError` where they are fewer now, and what is committed may be in one.
 */
export async function runToCommit(connection: Connection, guard: WriteGuard, change: Sql): Promise<void> {
  requireStillNewest(connection, guard);
  await connection.run(statements(change, sql`COMMIT;`));
  if (guard.copies === 1) return;
  // In a message of its own: where that fails, everything is committed.
  const [[row = {}] = []] = await connection
    .run(sql`SELECT current_setting('synchronous_standby_names') AS standby_names;`)
    .catch(() => []);
  const copies = copiesIn(row);
  if (copies < guard.copies) throw tooFewCopies(copies, guard);
}

/** Throws a `DatabaseUnavailableError` where another server took newer leads; one without copies refuses each write. */
export async function requireNewestServer(connection: Connection, guard: WriteGuard): Promise<void> {
  try {
    const [row] = await beginOnNewest(connection, guard);
    await connection.run(sql`ROLLBACK`);
    await guard.terms.note(row);
  } catch (error) {
    if (!(error instanceof TooFewCopiesError)) throw error;
  }
}

class TooFewCopiesError extends DatabaseUnavailableError {}

/** The answer to the guard's question, and those to what was asked behind it. */
async function beginOnNewest(
  connection: Connection,
  guard: WriteGuard,
  first?: Sql,
  before?: Sql,
): Promise<readonly [Row, ...Rows[]]> {
  for (let raises = 0; ; raises += 1) {
    const question = statements(raises === 0 ? before : undefined, begin, guardQuestion(guard), first);
    const answers = await connection.run(question);
    const at = answers.findIndex(([row]) => row !== undefined && guardColumn in row);
    const row = newestOf(answersIn(answers[at])['terms'] ?? []);
    if (row === undefined) throw new Error('the database gave less than was asked for');
    const found = requireFit(row, connection, guard);
    await requireCopies(connection, guard, row);
    begun.set(connection, row);
    if (found === undefined) return [row, ...answers.slice(at + 1)];
    if (raises === maxRaises) throw new Error('the term of the inbox cannot be raised');
    await connection.run(
      statements(sql`ROLLBACK;`, begin, sql`SELECT ${settings};`, found.raise, sql`COMMIT;`),
    );
  }
}

/** Before the term is raised: a standby that was promoted by mistake has no copies, and must not keep the primary out. */
async function requireCopies(connection: Connection, guard: WriteGuard, row: Row): Promise<void> {
  const copies = copiesIn(row);
  if (copies >= guard.copies) return;
  await connection.run(sql`ROLLBACK`);
  throw tooFewCopies(copies, guard);
}

const tooFewCopies = (copies: number, { copies: wanted }: WriteGuard): TooFewCopiesError =>
  new TooFewCopiesError({ kind: 'database-too-few-copies', copies, wanted } satisfies DatabaseProblem);
