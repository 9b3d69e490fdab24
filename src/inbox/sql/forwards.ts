// The table `forwards` has one row for each lead and target: its state, and the time until which a receiver holds the claim on it.
// A claim expires, so that another receiver continues after a crash. `target` is the stored name of a target. Times are by a clock that
// never goes back: the clock of the database, plus as much as that was ever set back.
import type { AttemptRecord, ClaimedLead, LeadClaim } from '../inbox.ts';
import { targetAddress } from '../target-name.ts';
import type { Dialect } from './dialect.ts';
import { numberOf, type Rows, textOf } from './row.ts';
import {
  ask,
  fromColumn,
  type Query,
  raw,
  sql,
  type Start,
  type Statement,
  toColumn,
  type Work,
} from './statement.ts';

/** The time from which a row can be claimed, in the very words of the index `due`, which is not used otherwise. */
const freeAt = ({ larger }: Dialect): Query => raw(`${larger}(due_at, claimed_until)`);

interface ClaimQuery {
  readonly target: string;
  readonly limit: number;
  readonly isWhole: boolean;
  readonly isProbe: boolean;
  readonly claimMs: number;
}

/** Leads that are due for a target, the earliest or the latest: among so many, those that were never tried are claimed first. */
const maxDueCompared = 256;

export function* claim(
  dialect: Dialect,
  { target, limit, isWhole, isProbe, claimMs }: ClaimQuery,
  { forwardsNow: now, clockAhead }: Start,
): Work<readonly ClaimedLead[]> {
  const waiting = sql`SELECT lead, seq, request, claim, tries, since, ${freeAt(dialect)} AS free_at FROM @forwards
    WHERE target = ${target} AND state = 'waiting'`;
  const direction = raw(isProbe ? 'DESC' : 'ASC');
  const inOrder = (column: string): Query =>
    raw(isProbe ? `CASE WHEN tries > 0 THEN ${column} ELSE -${column} END` : column);
  const rows: Rows = yield* ask(
    sql`SELECT * FROM (${waiting} AND ${freeAt(dialect)} <= ${now}
      ORDER BY ${freeAt(dialect)} ${direction}, request ${direction} LIMIT ${Math.max(limit, maxDueCompared)}) AS compared
      ORDER BY CASE WHEN tries > 0 THEN 1 ELSE 0 END, ${inOrder('free_at')}, ${inOrder('request')}, seq LIMIT ${limit}`,
  );
  const claimed = isWhole ? yield* withWholeRequest(rows, waiting, dialect) : rows;
  yield claimed.map((row) => claimRow(textOf(row['lead']), target, now + Math.round(claimMs)));
  return claimed.map((row) => ({
    leadId: fromColumn(textOf(row['lead'])),
    seq: numberOf(row['seq']),
    request: numberOf(row['request']),
    claim: numberOf(row['claim']) + 1,
    tries: numberOf(row['tries']) + 1,
    since: numberOf(row['since']) - clockAhead,
  }));
}

/** The limit may have cut the last request in two. */
function* withWholeRequest(rows: Rows, waiting: Query, dialect: Dialect): Work<Rows> {
  const last = rows.at(-1);
  if (last === undefined) return rows;
  const [freeSince, request] = [numberOf(last['free_at']), numberOf(last['request'])];
  const whole: Rows = yield* ask(
    sql`${waiting} AND ${freeAt(dialect)} = ${freeSince} AND request = ${request} ORDER BY seq`,
  );
  return [...rows.filter((row) => row['free_at'] !== freeSince || row['request'] !== request), ...whole];
}

const claimRow = (lead: string, target: string, until: number): Query =>
  sql`UPDATE @forwards SET claim = claim + 1, tries = tries + 1, claimed_until = ${until}
    WHERE lead = ${lead} AND target = ${target}`;

export function* claimLead(
  leadId: string,
  target: string | undefined,
  { now, claimMs }: { readonly now: number; readonly claimMs: number },
): Work<LeadClaim> {
  const lead = toColumn(leadId);
  const rows: Rows = yield* ask(
    sql`SELECT target, state, claim, tries, claimed_until, label FROM @forwards LEFT JOIN @targets ON name = target
      WHERE lead = ${lead} AND ${target === undefined ? raw("state <> 'done'") : sql`target = ${target}`}`,
  );
  const [row, ...more] =
    target === undefined ? rows.filter(({ label = null }) => textOf(label).startsWith('forward ')) : rows;
  if (row === undefined) return { state: 'none', claim: 0, tries: 0 };
  const numbers = { claim: numberOf(row['claim']), tries: numberOf(row['tries']) };
  if (more.length > 0) return { state: 'several', ...numbers };
  if (row['state'] === 'done') return { state: 'done', ...numbers };
  if (numberOf(row['claimed_until']) > now) return { state: 'busy', ...numbers };
  const stored = textOf(row['target']);
  yield [claimRow(lead, stored, now + Math.round(claimMs))];
  const label = fromColumn(textOf(row['label']));
  return { state: 'claimed', claim: numbers.claim + 1, tries: numbers.tries + 1, stored, label };
}

export function* record(
  records: readonly AttemptRecord[],
  storedName: (target: string) => string,
  now: number,
): Work<void> {
  yield records.flatMap((attempt) => [
    ...resultOf(attempt, storedName(attempt.target)),
    endOfClaim(attempt, storedName, now),
  ]);
}

function endOfClaim(
  { leadId, target, claim: number, outcome, insteadOf }: AttemptRecord,
  storedName: (target: string) => string,
  now: number,
): Query {
  const row = sql`WHERE lead = ${toColumn(leadId)} AND target = ${insteadOf ?? storedName(target)}`;
  // A success is recorded even if the claim expired and another receiver claimed the lead; any other outcome counts for its own claim.
  if (outcome === 'done') return sql`UPDATE @forwards SET state = 'done', claimed_until = 0 ${row}`;
  const ownClaim = sql`${row} AND claim = ${number} AND state <> 'done'`;
  if (outcome === 'untried')
    return sql`UPDATE @forwards SET claimed_until = 0, tries = tries - 1 ${ownClaim}`;
  if (outcome === 'dead') return sql`UPDATE @forwards SET claimed_until = 0, state = 'dead' ${ownClaim}`;
  return sql`UPDATE @forwards SET claimed_until = 0, due_at = ${now + Math.round(outcome.retryInMs)} ${ownClaim}`;
}

const maxResultsKept = 100;

/** The newest are kept. Nothing is written where the delivery is gone. */
function resultOf({ seq, target: name, result }: AttemptRecord, target: string): readonly Statement[] {
  if (result === undefined) return [];
  const { ok, answer, at: endedAt, durationMs, kind } = result;
  const address = targetAddress(name) ?? null;
  return [
    sql`INSERT INTO @results SELECT CAST(${seq} AS BIGINT), number, CAST(${target} AS TEXT), CAST(${ok ? 1 : 0} AS BIGINT),
      CAST(${toColumn(answer)} AS TEXT), CAST(${endedAt} AS BIGINT), CAST(${durationMs} AS BIGINT), CAST(${kind} AS TEXT),
      CAST(${address} AS TEXT)
      FROM (SELECT COALESCE(MAX(number), 0) + 1 AS number FROM @results WHERE seq = ${seq}) AS last
      WHERE EXISTS (SELECT 1 FROM @deliveries WHERE seq = ${seq})`,
    sql`DELETE FROM @results WHERE seq = ${seq} AND number <= (SELECT MAX(number) FROM @results WHERE seq = ${seq})
      - CAST(${maxResultsKept} AS BIGINT)`,
  ];
}

const maxGivenUp = 500;

/** Does what `Inbox.giveUp` says, for leads that wait since then or earlier. */
export function* giveUp(target: string, since: number, now: number): Work<number> {
  const rows: Rows = yield* ask(
    sql`SELECT lead FROM @forwards WHERE target = ${target} AND state = 'waiting' AND since <= ${since}
      AND claimed_until <= ${now} LIMIT ${maxGivenUp}`,
  );
  yield rows.map(
    (row) =>
      sql`UPDATE @forwards SET state = 'dead' WHERE lead = ${textOf(row['lead'])} AND target = ${target}`,
  );
  return rows.length;
}

/**
 * Does what `Inbox.makeDue` says. A person began again: the failure of an attempt under way does not count, so that its claim
 * gets another number, and ends by itself.
 */
export function* makeDue(
  dialect: Dialect,
  leadIds: readonly string[],
  { now, dueAt }: { readonly now: number; readonly dueAt: number },
): Work<number> {
  const undone = sql`state <> 'done' AND lead IN (SELECT value FROM ${dialect.each(leadIds.map(toColumn))})`;
  const [row] = yield* ask(sql`SELECT COUNT(DISTINCT lead) AS leads FROM @forwards WHERE ${undone}`);
  yield [
    sql`UPDATE @forwards SET state = 'waiting', claim = claim + 1, tries = 0, since = ${now}, due_at = ${Math.min(now, dueAt)}
      WHERE ${undone}`,
  ];
  return numberOf(row?.['leads']);
}

/** A clock that is less than this behind the last transaction was not set back: it was read a moment before. */
const clockToleranceMs = 1000;

/** Asks for what `Inbox.nextDueIn` says. `now`: an expression. */
export const nextDueQuery = (dialect: Dialect, target: string, now: Query): Query =>
  sql`SELECT CASE WHEN noted_at > ${now} + ${clockToleranceMs} THEN 0 ELSE ${freeAt(dialect)} - ${now} - clock_ahead END AS due_in
    FROM @forwards, @meta WHERE target = ${target} AND state = 'waiting' ORDER BY ${freeAt(dialect)} LIMIT 1`;
