/**
 * The table `forwards` has one row for each lead and target. A row is `waiting` until an attempt is recorded as `done` or `dead`.
 * For each attempt a receiver claims the row until `claimed_until`; a claim expires, so that another receiver continues after a
 * crash. The column `claim` counts the claims of the row and `tries` its attempts; the next attempt may begin at `due_at`, and
 * `target` is the stored name of the target. All times here are by the clock of `Start.forwardsNow`, which never goes back.
 */
import type { AttemptRecord, ClaimedLead, LeadClaim } from '../inbox.ts';
import { type StoredName, targetAddress } from '../target-name.ts';
import type { Dialect } from './dialect.ts';
import { numberOf, type Row, type Rows, textOf } from './row.ts';
import { ask, fromColumn, type Query, raw, sql, type Start, toColumn, type Work } from './statement.ts';

/** The time from which a row can be claimed. The index `due` has this expression, and is used for no other one. */
const freeAt = ({ larger }: Dialect): Query => raw(`${larger}(due_at, claimed_until)`);

interface ClaimQuery {
  readonly target: string;
  readonly limit: number;
  readonly isWhole: boolean;
  readonly isProbe: boolean;
  readonly claimMs: number;
}

/**
 * A claim reads so many rows at most from the index `due`, which knows nothing of tries, and chooses the untried ones among
 * them. A larger number would make each claim slower, and a smaller one let leads that are refused delay the untried ones.
 */
const maxRowsCompared = 256;

/** Does what `Inbox.claim` says. */
export function* claim(
  dialect: Dialect,
  { target, limit, isWhole, isProbe, claimMs }: ClaimQuery,
  { forwardsNow: now, clockAhead }: Start,
): Work<readonly ClaimedLead[]> {
  const waiting = sql`SELECT lead, seq, request, claim, tries, since, ${freeAt(dialect)} AS free_at FROM @forwards
    WHERE target = ${target} AND state = 'waiting'`;
  // A probe claims the latest untried lead. Leads that were tried are claimed in the order in which they became free all the same.
  const direction = raw(isProbe ? 'DESC' : 'ASC');
  const sortKey = (column: string): Query =>
    raw(isProbe ? `CASE WHEN tries > 0 THEN ${column} ELSE -${column} END` : column);
  const rows: Rows = yield* ask(
    sql`SELECT * FROM (${waiting} AND ${freeAt(dialect)} <= ${now}
      ORDER BY ${freeAt(dialect)} ${direction}, request ${direction} LIMIT ${Math.max(limit, maxRowsCompared)}) AS compared
      ORDER BY CASE WHEN tries > 0 THEN 1 ELSE 0 END, ${sortKey('free_at')}, ${sortKey('request')}, seq LIMIT ${limit}`,
  );
  const claimed = isWhole ? yield* withWholeRequest(rows, waiting, dialect) : rows;
  yield claimed.map((row) => claimUpdate(textOf(row['lead']), target, now + Math.round(claimMs)));
  return claimed.map((row) => ({
    leadId: fromColumn(textOf(row['lead'])),
    seq: numberOf(row['seq']),
    request: numberOf(row['request']),
    claim: numberOf(row['claim']) + 1,
    tries: numberOf(row['tries']) + 1,
    since: numberOf(row['since']) - clockAhead,
  }));
}

/** Adds the other leads of the last row's request, which the limit may have cut off. They became free at the same time. */
function* withWholeRequest(rows: Rows, waiting: Query, dialect: Dialect): Work<Rows> {
  const last = rows.at(-1);
  if (last === undefined) return rows;
  const [freeSince, request] = [numberOf(last['free_at']), numberOf(last['request'])];
  const whole: Rows = yield* ask(
    sql`${waiting} AND ${freeAt(dialect)} = ${freeSince} AND request = ${request} ORDER BY seq`,
  );
  return [...rows.filter((row) => row['free_at'] !== freeSince || row['request'] !== request), ...whole];
}

const claimUpdate = (lead: string, target: string, until: number): Query =>
  sql`UPDATE @forwards SET claim = claim + 1, tries = tries + 1, claimed_until = ${until}
    WHERE lead = ${lead} AND target = ${target}`;

/** Does what `Inbox.claimLeads` says, for one lead. `storedTarget`: undefined where the person named no target. */
export function* claimLead(
  leadId: string,
  storedTarget: string | undefined,
  { now, claimMs }: { readonly now: number; readonly claimMs: number },
): Work<LeadClaim> {
  const lead = toColumn(leadId);
  const isAsked = storedTarget === undefined ? raw("state <> 'done'") : sql`target = ${storedTarget}`;
  const rows: Rows = yield* ask(
    sql`SELECT target, state, claim, tries, claimed_until, label FROM @forwards LEFT JOIN @targets ON name = target
      WHERE lead = ${lead} AND ${isAsked}`,
  );
  const [row, ...more] = storedTarget === undefined ? rows.filter(isOfForwardTarget) : rows;
  if (row === undefined) return { state: 'none', claim: 0, tries: 0 };
  const numbers = { claim: numberOf(row['claim']), tries: numberOf(row['tries']) };
  if (more.length > 0) return { state: 'several', ...numbers };
  if (row['state'] === 'done') return { state: 'done', ...numbers };
  if (numberOf(row['claimed_until']) > now) return { state: 'busy', ...numbers };
  const stored = textOf(row['target']);
  yield [claimUpdate(lead, stored, now + Math.round(claimMs))];
  const label = fromColumn(textOf(row['label']));
  return { state: 'claimed', claim: numbers.claim + 1, tries: numbers.tries + 1, stored, label };
}

const isOfForwardTarget = ({ label = null }: Row): boolean => textOf(label).startsWith('forward ');

/** Does what `Inbox.record` says. The result of an attempt is kept for the target that got the lead, even instead of another one. */
export function* recordAttempts(
  attempts: readonly AttemptRecord[],
  storedName: StoredName,
  now: number,
): Work<void> {
  yield attempts.flatMap((attempt) => {
    const storedTarget = storedName(attempt.target);
    const claimedTarget = attempt.insteadOf ?? storedTarget;
    return [...resultStatements(attempt, storedTarget), endOfClaim(attempt, claimedTarget, now)];
  });
}

function endOfClaim(
  { leadId, claim: claimNumber, outcome }: AttemptRecord,
  claimedTarget: string,
  now: number,
): Query {
  const row = sql`WHERE lead = ${toColumn(leadId)} AND target = ${claimedTarget}`;
  // A success is recorded even if the claim expired and another receiver claimed the lead; any other outcome counts for its own claim.
  if (outcome === 'done') return sql`UPDATE @forwards SET state = 'done', claimed_until = 0 ${row}`;
  const rowOfClaim = sql`${row} AND claim = ${claimNumber} AND state <> 'done'`;
  if (outcome === 'untried')
    return sql`UPDATE @forwards SET claimed_until = 0, tries = tries - 1 ${rowOfClaim}`;
  if (outcome === 'dead') return sql`UPDATE @forwards SET claimed_until = 0, state = 'dead' ${rowOfClaim}`;
  return sql`UPDATE @forwards SET claimed_until = 0, due_at = ${now + Math.round(outcome.retryInMs)} ${rowOfClaim}`;
}

const maxResultsPerDelivery = 100;

/** Stores the result under the next number of its delivery, of which the newest are kept; not where that was pruned or erased. */
function resultStatements(attempt: AttemptRecord, storedTarget: string): readonly Query[] {
  const { seq, result } = attempt;
  if (result === undefined) return [];
  const { ok, answer, at: endedAt, durationMs, kind } = result;
  const address = targetAddress(attempt.target) ?? null;
  return [
    // PostgreSQL does not take the type of a selected parameter from the column that it goes into: hence the casts.
    sql`INSERT INTO @results SELECT CAST(${seq} AS BIGINT), number, CAST(${storedTarget} AS TEXT), CAST(${ok ? 1 : 0} AS BIGINT),
      CAST(${toColumn(answer)} AS TEXT), CAST(${endedAt} AS BIGINT), CAST(${durationMs} AS BIGINT), CAST(${kind} AS TEXT),
      CAST(${address} AS TEXT)
      FROM (SELECT COALESCE(MAX(number), 0) + 1 AS number FROM @results WHERE seq = ${seq}) AS last
      WHERE EXISTS (SELECT 1 FROM @deliveries WHERE seq = ${seq})`,
    sql`DELETE FROM @results WHERE seq = ${seq} AND number <= (SELECT MAX(number) FROM @results WHERE seq = ${seq})
      - CAST(${maxResultsPerDelivery} AS BIGINT)`,
  ];
}

const maxGivenUpAtOnce = 500;

/** Does what `Inbox.giveUp` says, for leads that have waited since `latestSince` or earlier and are not being sent now. */
export function* giveUp(target: string, latestSince: number, now: number): Work<number> {
  const rows: Rows = yield* ask(
    sql`SELECT lead FROM @forwards WHERE target = ${target} AND state = 'waiting' AND since <= ${latestSince}
      AND claimed_until <= ${now} LIMIT ${maxGivenUpAtOnce}`,
  );
  yield rows.map(
    (row) =>
      sql`UPDATE @forwards SET state = 'dead' WHERE lead = ${textOf(row['lead'])} AND target = ${target}`,
  );
  return rows.length;
}

/**
 * Does what `Inbox.makeDue` says. Each row gets another claim number, so that a failure of an attempt that is under way changes
 * nothing; `claimed_until` stays, so that no receiver sends the lead a second time meanwhile.
 */
export function* makeDue(
  dialect: Dialect,
  leadIds: readonly string[],
  { now, dueAt }: { readonly now: number; readonly dueAt: number },
): Work<number> {
  const undone = sql`state <> 'done' AND lead IN (SELECT value FROM ${dialect.tableOf(leadIds.map(toColumn))})`;
  const [row] = yield* ask(sql`SELECT COUNT(DISTINCT lead) AS leads FROM @forwards WHERE ${undone}`);
  yield [
    sql`UPDATE @forwards SET state = 'waiting', claim = claim + 1, tries = 0, since = ${now}, due_at = ${Math.min(now, dueAt)}
      WHERE ${undone}`,
  ];
  return numberOf(row?.['leads']);
}

/** A time that is less than this before the last transaction does not show that the clock was set back: it was read a moment before. */
const clockToleranceMs = 1000;

/** The query for what `Inbox.nextDueIn` says. `now`: the present time as an SQL expression. */
export const nextDueQuery = (dialect: Dialect, target: string, now: Query): Query =>
  sql`SELECT CASE WHEN noted_at > ${now} + ${clockToleranceMs} THEN 0 ELSE ${freeAt(dialect)} - ${now} - clock_ahead END AS due_in
    FROM @forwards, @meta WHERE target = ${target} AND state = 'waiting' ORDER BY ${freeAt(dialect)} LIMIT 1`;
