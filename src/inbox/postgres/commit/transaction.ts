import { bare, type Sql, sql } from '../sql/sql.ts';

/** How long a statement may take, and wait for a lock, in milliseconds: less than the wait for its answer. */
const statementMs = 4500;
const lockMs = 4000;

/** After so long without the next statement the database ends the session: its receiver has gone. */
const abandonedMs = 10_000;

/**
 * Begins a transaction that depends on no setting of the role, the database or a pooler, and leaves none behind. An
 * acknowledged lead must survive a power cut: `synchronous_commit` is `on`, or what is stronger.
 */
export const begin: Sql = sql`BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT set_config('statement_timeout', '${bare(statementMs)}', true), set_config('lock_timeout', '${bare(lockMs)}', true),
  set_config('idle_in_transaction_session_timeout', '${bare(abandonedMs)}', true), set_config('jit', 'off', true),
  set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
    ELSE 'on' END, true);`;

/** A transaction of its own, not waited for until it is on disk: what it writes may be lost with the database. */
export const atOnce = (work: Sql): Sql =>
  sql`BEGIN; SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '1s', true); ${work} COMMIT;`;
