// The table `forwards` has one row for each lead and target: its state, and the time until which a receiver holds the claim on it.
// A claim expires, so that another receiver continues after a crash. `target` is the stored name of a target.
import type {
  AttemptRecord,
  ClaimedLead,
  Forward,
  ForwardState,
  LeadClaim,
  StoredRef,
  TargetCount,
} from '../inbox.ts';
import { maxResultsKept, mostDueCompared } from '../store-options.ts';
import { targetAddress, targetLabel } from '../target-name.ts';
import type { Dialect } from './dialect.ts';
import {
  ask,
  fromColumn,
  numberOf,
  optionalNumber,
  type Query,
  raw,
  type Row,
  type Rows,
  sql,
  type Statement,
  textOf,
  toColumn,
  type Value,
  type Work,
} from './statement.ts';

/** The time from which a row can be claimed, in the very words of the index `due`, which is not used otherwise. */
const freeAt = ({ larger }: Dialect): Query => raw(`${larger}(due_at, claimed_until)`);

interface Claiming {
  readonly now: number;
  readonly claimMs: number;
}

/** The leads that a claim asks for, as `Inbox.claim` says. `dueBy` is in milliseconds since the epoch. */
interface ClaimQuery {
  readonly target: string;
  readonly limit: number;
  readonly dueBy: number;
  readonly isWhole: boolean;
  readonly isProbe: boolean;
}

/** As `Inbox.claim`. */
export function* claim(
  dialect: Dialect,
  { target, limit, dueBy, isWhole, isProbe }: ClaimQuery,
  claiming: Claiming,
): Work<readonly ClaimedLead[]> {
  const waiting = sql`SELECT lead, seq, request, tries, since, ${freeAt(dialect)} AS free_at FROM @forwards
    WHERE target = ${target} AND state = 'waiting'`;
  const direction = raw(isProbe ? 'DESC' : 'ASC');
  const inOrder = (column: string): Query =>
    raw(isProbe ? `CASE WHEN tries > 0 THEN ${column} ELSE -${column} END` : column);
  const rows: Rows = yield* ask(
    sql`SELECT * FROM (${waiting} AND ${freeAt(dialect)} <= ${dueBy}
      ORDER BY ${freeAt(dialect)} ${direction}, request ${direction} LIMIT ${Math.max(limit, mostDueCompared)}) AS compared
      ORDER BY CASE WHEN tries > 0 THEN 1 ELSE 0 END, ${inOrder('free_at')}, ${inOrder('request')}, seq LIMIT ${limit}`,
  );
  const claimed = isWhole ? yield* withWholeRequest(rows, waiting, dialect) : rows;
  yield claimed.map((row) => claimRow(textOf(row['lead']), target, claiming));
  return claimed.map((row) => ({
    leadId: fromColumn(textOf(row['lead'])),
    seq: numberOf(row['seq']),
    request: numberOf(row['request']),
    tries: numberOf(row['tries']) + 1,
    since: numberOf(row['since']),
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

/** A due time that was written before the system's clock was set back must not make the lead due while it is claimed. */
const claimRow = (lead: string, target: string, { now, claimMs }: Claiming): Query =>
  sql`UPDATE @forwards SET tries = tries + 1, claimed_until = ${now + Math.round(claimMs)},
    due_at = CASE WHEN due_at > ${now} THEN ${now} ELSE due_at END
    WHERE lead = ${lead} AND target = ${target}`;

/** As `Inbox.claimLeads`, for one lead. */
export function* claimLead(leadId: string, target: string | undefined, claiming: Claiming): Work<LeadClaim> {
  const lead = toColumn(leadId);
  const found: Rows = yield* ask(
    sql`SELECT target, state, tries, claimed_until, label FROM @forwards LEFT JOIN @targets ON name = target
      WHERE lead = ${lead} AND ${target === undefined ? raw("state <> 'done'") : sql`target = ${target}`}`,
  );
  const [row, ...more] =
    target === undefined ? found.filter((one) => textOf(one['label']).startsWith('forward ')) : found;
  if (row === undefined) return { state: 'none', tries: 0 };
  const tries = numberOf(row['tries']);
  if (more.length > 0) return { state: 'several', tries };
  if (row['state'] === 'done') return { state: 'done', tries };
  if (numberOf(row['claimed_until']) > claiming.now) return { state: 'busy', tries };
  const stored = textOf(row['target']);
  yield [claimRow(lead, stored, claiming)];
  return { state: 'claimed', tries: tries + 1, stored, label: fromColumn(textOf(row['label'])) };
}

/** Ends claims, and keeps what came of the attempts. */
export function* record(
  records: readonly AttemptRecord[],
  storedName: (target: string) => string,
  now: number,
): Work<void> {
  yield records.flatMap((one) => [
    ...resultOf(one, storedName(one.target)),
    endOfClaim(one, storedName, now),
  ]);
}

function endOfClaim(
  { leadId, target, tries, outcome, insteadOf }: AttemptRecord,
  storedName: (target: string) => string,
  now: number,
): Query {
  const row = sql`WHERE lead = ${toColumn(leadId)} AND target = ${insteadOf ?? storedName(target)}`;
  // A success is recorded even if the claim expired and another receiver claimed the lead; any other outcome counts for its own claim.
  if (outcome === 'done') return sql`UPDATE @forwards SET state = 'done', claimed_until = 0 ${row}`;
  const ownClaim = sql`${row} AND tries = ${tries} AND state <> 'done'`;
  if (outcome === 'untried')
    return sql`UPDATE @forwards SET claimed_until = 0, tries = tries - 1 ${ownClaim}`;
  if (outcome === 'dead') return sql`UPDATE @forwards SET claimed_until = 0, state = 'dead' ${ownClaim}`;
  return sql`UPDATE @forwards SET claimed_until = 0, due_at = ${now + Math.round(outcome.retryInMs)} ${ownClaim}`;
}

/** The newest are kept. Nothing is written where the delivery is gone. */
function resultOf({ seq, target: name, result }: AttemptRecord, target: string): readonly Statement[] {
  if (result === undefined) return [];
  const { ok, answer, at, durationMs, kind } = result;
  const address = targetAddress(name) ?? null;
  return [
    sql`INSERT INTO @results SELECT CAST(${seq} AS BIGINT), number, CAST(${target} AS TEXT), CAST(${ok ? 1 : 0} AS BIGINT),
      CAST(${toColumn(answer)} AS TEXT), CAST(${at} AS BIGINT), CAST(${durationMs} AS BIGINT), CAST(${kind} AS TEXT),
      CAST(${address} AS TEXT)
      FROM (SELECT COALESCE(MAX(number), 0) + 1 AS number FROM @results WHERE seq = ${seq}) AS last
      WHERE EXISTS (SELECT 1 FROM @deliveries WHERE seq = ${seq})`,
    sql`DELETE FROM @results WHERE seq = ${seq} AND number <= (SELECT MAX(number) FROM @results WHERE seq = ${seq})
      - CAST(${maxResultsKept} AS BIGINT)`,
  ];
}

/** Leads that are given up in one step. */
const mostGivenUp = 500;

/** As `Inbox.giveUp`, of leads that wait since then or earlier. */
export function* giveUp(target: string, since: number, now: number): Work<number> {
  const rows: Rows = yield* ask(
    sql`SELECT lead FROM @forwards WHERE target = ${target} AND state = 'waiting' AND since <= ${since}
      AND claimed_until <= ${now} LIMIT ${mostGivenUp}`,
  );
  yield rows.map(
    (row) =>
      sql`UPDATE @forwards SET state = 'dead' WHERE lead = ${textOf(row['lead'])} AND target = ${target}`,
  );
  return rows.length;
}

/** As `Inbox.makeDue`. What comes of an attempt under way does not count, unless it is a success: a person began anew. */
export function* makeDue(
  dialect: Dialect,
  leadIds: readonly string[],
  { now, dueAt }: { readonly now: number; readonly dueAt: number },
): Work<number> {
  const undone = sql`state <> 'done' AND lead IN (SELECT value FROM ${dialect.each(leadIds.map(toColumn))})`;
  const [row] = yield* ask(sql`SELECT COUNT(DISTINCT lead) AS leads FROM @forwards WHERE ${undone}`);
  yield [
    sql`UPDATE @forwards SET state = 'waiting', tries = 0, since = ${now}, due_at = ${Math.min(now, dueAt)} WHERE ${undone}`,
  ];
  return numberOf(row?.['leads']);
}

/** From now to when the first lead can be claimed, in milliseconds. `now`: an expression. */
export const nextDueQuery = (dialect: Dialect, target: string, now: Query): Query =>
  sql`SELECT ${freeAt(dialect)} - ${now} AS due_in FROM @forwards WHERE target = ${target} AND state = 'waiting'
    ORDER BY ${freeAt(dialect)} LIMIT 1`;

/** Rows that one query reads: there may be millions. */
const pageRows = 1000;

/** Targets that some lead waits for, or is dead for, with their labels. */
export const undoneTargets = sql`SELECT name, label FROM @targets
  WHERE EXISTS (SELECT 1 FROM @forwards WHERE target = name AND state <> 'done')`;

/** One page of the leads that the target still lacks, in the order of ids, behind `after`. A page that is not full is the last. */
export const undonePage = {
  rows: pageRows,
  query: (target: string, after: string): Query =>
    sql`SELECT lead, seq FROM @forwards WHERE target = ${target} AND state <> 'done' AND lead > ${after}
      ORDER BY lead LIMIT ${pageRows}`,
  refOf: (row: Row): StoredRef => ({ leadId: fromColumn(textOf(row['lead'])), seq: numberOf(row['seq']) }),
};

/** The same, counted. */
export const backlogPage = (target: string, after: string): Query =>
  sql`SELECT COUNT(*) AS leads, COUNT(*) FILTER (WHERE state = 'dead') AS dead,
      MIN(first_at) FILTER (WHERE state = 'waiting') AS oldest, MAX(lead) AS last
    FROM (SELECT lead, state, first_at FROM @forwards JOIN @leads ON id = lead WHERE target = ${target} AND state <> 'done'
      AND lead > ${after} ORDER BY lead LIMIT ${pageRows}) AS page`;

export interface BacklogPage {
  readonly leads: number;
  readonly dead: number;
  readonly oldestAt: number;
  /** The page ends with it; undefined: it is the last one. */
  readonly last: string | undefined;
}

export function backlogPageOf(row: Row | undefined): BacklogPage {
  const leads = numberOf(row?.['leads']);
  return {
    leads,
    dead: numberOf(row?.['dead']),
    oldestAt: optionalNumber(row?.['oldest']) ?? Number.POSITIVE_INFINITY,
    last: leads < pageRows ? undefined : textOf(row?.['last']),
  };
}

export const targetCountsQuery = sql`SELECT target, label, waiting, dead FROM
    (SELECT target, COUNT(*) FILTER (WHERE state = 'waiting') AS waiting, COUNT(*) FILTER (WHERE state = 'dead') AS dead
    FROM @forwards WHERE state <> 'done' GROUP BY target) AS counted LEFT JOIN @targets ON name = target`;

/** `own`: stored names of the receiver's targets. */
export function targetCountsIn(rows: Rows, own: readonly string[]): TargetCount[] {
  const counts = rows.map((row) => ({
    target: fromColumn(textOf(row['label'])),
    waiting: numberOf(row['waiting']),
    dead: numberOf(row['dead']),
    isOwn: own.includes(textOf(row['target'])),
  }));
  return counts.sort((a, b) => (a.target < b.target ? -1 : 1));
}

export const forwardsQuery = (dialect: Dialect, leadIds: readonly string[], now: Query): Query =>
  sql`SELECT lead, label, state, tries, due_at, CASE WHEN claimed_until > ${now} THEN 1 ELSE 0 END AS is_claimed FROM ${dialect.each(leadIds.map(toColumn))} ${dialect.searched} @forwards
    ON lead = asked.value LEFT JOIN @targets ON name = target ORDER BY label`;

export function forwardsIn(rows: Rows): ReadonlyMap<string, readonly Forward[]> {
  const byLead = new Map<string, Forward[]>();
  for (const row of rows) {
    const leadId = fromColumn(textOf(row['lead']));
    const state = textOf(row['state']) as ForwardState;
    const dueAt = state === 'waiting' ? numberOf(row['due_at']) : undefined;
    const target = fromColumn(textOf(row['label']));
    const all = byLead.get(leadId) ?? [];
    const isClaimed = state === 'waiting' && numberOf(row['is_claimed']) === 1;
    byLead.set(leadId, [...all, { target, state, tries: numberOf(row['tries']), dueAt, isClaimed }]);
  }
  return byLead;
}

/** Keeps a label for each name, which holds no credentials. Gives the labels of those that are new to an inbox with leads. */
export function* storeLabels(
  targets: readonly string[],
  storedName: (target: string) => string,
): Work<readonly string[]> {
  if (targets.length === 0) return [];
  const labels = new Map(
    targets.map((target): [string, string] => [storedName(target), targetLabel(target)]),
  );
  const [known = [], leads = []] = yield [
    sql`SELECT name FROM @targets`,
    sql`SELECT 1 AS one FROM @leads LIMIT 1`,
  ];
  for (const row of known) labels.delete(textOf(row['name']));
  const rows = [...labels].map(([name, label]): Value[] => [name, toColumn(label)]);
  if (rows.length > 0) yield [{ into: 'targets', rows }];
  return leads.length === 0 ? [] : [...labels.values()];
}
