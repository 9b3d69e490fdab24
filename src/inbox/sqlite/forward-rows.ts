import { setImmediate as otherWork } from 'node:timers/promises';
import {
  type AttemptRecord,
  type Backlog,
  type ClaimedLead,
  type Forward,
  type ForwardState,
  type LeadClaim,
  type StoredRef,
  sumBacklog,
  type TargetCount,
} from '../inbox.ts';
import { mostDueCompared } from '../store-options.ts';
import { type StoredName, storedNames, targetLabel } from '../target-name.ts';
import { type Database, fromColumn, type Row, textOf, toColumn, type Statements } from './libsql.ts';

/** In the very words of the index: from then on a row can be claimed. */
const freeAt = 'MAX(due_at, claimed_until)';
const waitingFor = `FROM forwards WHERE target = ? AND state = 'waiting'`;

/** Leads that are given up in one step. */
const mostGivenUp = 500;

interface ForwardRowsOptions {
  readonly claimMs: number;
  readonly storedName: StoredName<string>;
}

/**
 * The table `forwards`: where each lead stands at each of its targets, and until when somebody has claimed it. A claim ends by
 * itself, so that another receiver does what one that was killed had not done. Ids are as `toColumn` gives them.
 */
export class ForwardRows {
  readonly #sql: Statements;
  readonly #options: ForwardRowsOptions;

  constructor(sql: Statements, options: ForwardRowsOptions) {
    this.#sql = sql;
    this.#options = options;
  }

  /** A new lead waits for a target. Written with `insertWaiting`. */
  add(
    id: string,
    target: string,
    { seq, request, isClaimed }: { seq: number; request: number; isClaimed: boolean },
    now: number,
  ): void {
    const { claimMs, storedName } = this.#options;
    const claim = isClaimed ? [1, now, now, now + claimMs] : [0, now, now, 0];
    this.#sql.insertLater('forwards', [id, storedName(target), seq, request, 'waiting', ...claim]);
  }

  claim(target: string, most: number, by: number, now: number): ClaimedLead[] {
    const stored = this.#options.storedName(target);
    const columns = `lead, seq, request, tries, since, ${freeAt} AS free_at`;
    const due = `SELECT ${columns} ${waitingFor} AND ${freeAt} <= ? ORDER BY ${freeAt}, request LIMIT ?`;
    const rows = this.#sql.all(
      `SELECT * FROM (${due}) ORDER BY tries > 0, free_at, request LIMIT ?`,
      stored,
      by,
      Math.max(most, mostDueCompared),
      most,
    );
    const last = rows.at(-1);
    if (last === undefined) return [];
    const [lastFree, lastRequest] = [Number(last['free_at']), Number(last['request'])];
    // The limit may have cut the last request in two.
    const isOfLast = (row: Row): boolean => row['free_at'] === lastFree && row['request'] === lastRequest;
    const whole = this.#sql.all(
      `SELECT ${columns} ${waitingFor} AND ${freeAt} = ? AND request = ?`,
      stored,
      lastFree,
      lastRequest,
    );
    return [...rows.filter((row) => !isOfLast(row)), ...whole].map((row) => {
      this.#claimRow(textOf(row['lead']), stored, now);
      return {
        leadId: fromColumn(textOf(row['lead'])),
        seq: Number(row['seq']),
        request: Number(row['request']),
        tries: Number(row['tries']) + 1,
        since: Number(row['since']),
      };
    });
  }

  claimLead(id: string, target: string | undefined, now: number): LeadClaim {
    const wanted = `SELECT target, state, tries, claimed_until, (SELECT label FROM targets WHERE name = target) AS label
      FROM forwards WHERE lead = ?`;
    const [row, ...more] =
      target === undefined
        ? this.#sql
            .all(`${wanted} AND state <> 'done'`, id)
            .filter((one) => textOf(one['label']).startsWith('forward '))
        : this.#sql.all(`${wanted} AND target = ?`, id, this.#options.storedName(target));
    if (row === undefined) return { state: 'none', tries: 0 };
    const tries = Number(row['tries']);
    if (more.length > 0) return { state: 'several', tries };
    if (row['state'] === 'done') return { state: 'done', tries };
    if (Number(row['claimed_until']) > now) return { state: 'busy', tries };
    const stored = textOf(row['target']);
    this.#claimRow(id, stored, now);
    return { state: 'claimed', tries: tries + 1, stored, label: targetLabel(textOf(row['label'])) };
  }

  #claimRow(id: string, stored: string, now: number): void {
    this.#sql.run(
      'UPDATE forwards SET tries = tries + 1, claimed_until = ? WHERE lead = ? AND target = ?',
      now + this.#options.claimMs,
      id,
      stored,
    );
  }

  record(id: string, { target, tries, outcome, insteadOf }: AttemptRecord, now: number): void {
    const stored = insteadOf ?? this.#options.storedName(target);
    if (outcome === 'done') {
      this.#sql.run(
        `UPDATE forwards SET state = 'done', claimed_until = 0 WHERE lead = ? AND target = ?`,
        id,
        stored,
      );
      return;
    }
    this.#sql.run(
      `UPDATE forwards SET claimed_until = 0, tries = tries - ?, due_at = COALESCE(?, due_at), state = COALESCE(?, state)
       WHERE lead = ? AND target = ? AND tries = ? AND state <> 'done'`,
      outcome === 'untried' ? 1 : 0,
      typeof outcome === 'object' ? now + Math.round(outcome.retryInMs) : null,
      outcome === 'dead' ? 'dead' : null,
      id,
      stored,
      tries,
    );
  }

  /** Returns the number of leads. */
  giveUp(target: string, since: number, now: number): number {
    return this.#sql.run(
      `UPDATE forwards SET state = 'dead' WHERE (lead, target) IN
       (SELECT lead, target ${waitingFor} AND since <= ? AND claimed_until <= ? LIMIT ${mostGivenUp})`,
      this.#options.storedName(target),
      since,
      now,
    );
  }

  /** Returns whether the lead waits for any target now. */
  makeDue(id: string, now: number): boolean {
    const update = `UPDATE forwards SET state = 'waiting', tries = 0, since = ?1, due_at = ?1 WHERE lead = ?2 AND state <> 'done'`;
    return this.#sql.run(update, now, id) > 0;
  }
}

/** Leads that are read in one step, a millisecond or two: there may be millions, and they are read on the event loop. */
const step = 1000;

const undoneTargets =
  "SELECT name, label FROM targets WHERE EXISTS (SELECT 1 FROM forwards WHERE target = name AND state <> 'done')";

/** Reads which leads wait, by the stored names of targets. */
export class WaitingLeads {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** When the first lead can be claimed, in milliseconds since the epoch. */
  nextDueAt(target: string): number | undefined {
    const [row] = this.#sql.all(`SELECT ${freeAt} AS free_at ${waitingFor} ORDER BY ${freeAt} LIMIT 1`, target);
    return row && Number(row['free_at']);
  }

  /** Targets that some lead waits for, or is dead for. */
  targets(): readonly string[] {
    return this.#sql.all(undoneTargets).map((row) => textOf(row['name']));
  }

  /** Some of the leads behind one of them, and the last of these; undefined: there are no more. */
  page(target: string, after: string): { refs: readonly StoredRef[]; last: string | undefined } {
    const rows = this.#sql.all(
      `SELECT lead, seq FROM forwards WHERE target = ? AND state <> 'done' AND lead > ? ORDER BY lead LIMIT ${step}`,
      target,
      after,
    );
    const refs = rows.map((row) => ({ leadId: fromColumn(textOf(row['lead'])), seq: Number(row['seq']) }));
    const last = rows.at(-1);
    return { refs, last: last && textOf(last['lead']) };
  }

  /** `own`: of this receiver. */
  counts(own: readonly string[]): TargetCount[] {
    const rows = this.#sql.all(
      `SELECT target, (SELECT label FROM targets WHERE name = target) AS label, SUM(state = 'waiting') AS waiting,
       SUM(state = 'dead') AS dead FROM forwards WHERE state <> 'done' GROUP BY target`,
    );
    const found = rows.map((row) => ({
      target: targetLabel(textOf(row['label'])),
      waiting: Number(row['waiting']),
      dead: Number(row['dead']),
      isOwn: own.includes(textOf(row['target'])),
    }));
    return found.sort((a, b) => (a.target < b.target ? -1 : 1));
  }

  forwards(leadIds: readonly string[]): ReadonlyMap<string, readonly Forward[]> {
    const rows = this.#sql.all(
      `SELECT lead, label, state, tries, due_at FROM json_each(?) AS asked CROSS JOIN forwards ON lead = asked.value
       LEFT JOIN targets ON name = target ORDER BY label`,
      JSON.stringify(leadIds.map(toColumn)),
    );
    const found = new Map<string, Forward[]>();
    for (const row of rows) {
      const leadId = fromColumn(textOf(row['lead']));
      const state = textOf(row['state']) as ForwardState;
      const dueAt = state === 'waiting' ? Number(row['due_at']) : undefined;
      const forward = { target: targetLabel(textOf(row['label'])), state, tries: Number(row['tries']), dueAt };
      const known = found.get(leadId);
      if (known === undefined) found.set(leadId, [forward]);
      else known.push(forward);
    }
    return found;
  }

  /** `Inbox.backlog`. `own`: stored names of the targets of this receiver. */
  async backlog(own: readonly string[]): Promise<readonly Backlog[]> {
    const read = `SELECT COUNT(*) AS read, SUM(state = 'dead') AS dead, MIN(first_at) FILTER (WHERE state = 'waiting') AS oldest,
      MAX(lead) AS last FROM (SELECT lead, state, first_at FROM forwards JOIN leads ON id = lead
      WHERE target = ? AND state <> 'done' AND lead > ? ORDER BY lead LIMIT ${step})`;
    const parts: Backlog[] = [];
    for (const { name, label } of this.#sql.all(undoneTargets)) {
      const target = own.includes(textOf(name)) ? targetLabel(textOf(label)) : undefined;
      for (let last = ''; ;) {
        const [row] = this.#sql.all(read, textOf(name), last);
        const count = Number(row?.['read'] ?? 0);
        const dead = Number(row?.['dead'] ?? 0);
        const oldestAt = Number(row?.['oldest'] ?? Number.POSITIVE_INFINITY);
        if (count > 0) parts.push({ target, waiting: count - dead, dead, oldestAt });
        if (count < step) break;
        last = textOf(row?.['last']);
        await otherWork();
      }
    }
    return sumBacklog(parts);
  }
}

/** How this inbox stores the names of targets: by the key in its table `target_key`. */
export function storedNamesOf(database: Database): StoredName<string> {
  const key = database.prepare('SELECT key FROM target_key').get([])?.['key'];
  if (!(key instanceof Uint8Array)) throw new Error('the inbox has no key for the names of targets');
  return storedNames(key, (digest) => digest.toString('base64url'));
}

/**
 * The table `targets`: beside each stored name a label, which holds no credentials. Returns the labels of targets that are new
 * to an inbox which has leads already.
 */
export function storeLabels(
  database: Database,
  storedName: StoredName<string>,
  targets: readonly string[],
): readonly string[] {
  const insert = database.prepare('INSERT INTO targets VALUES (?, ?) ON CONFLICT DO NOTHING');
  const added = targets
    .filter((target) => insert.run([storedName(target), targetLabel(target)]).changes > 0)
    .map(targetLabel);
  const hasLeads = database.prepare('SELECT 1 FROM leads LIMIT 1').all([]).length > 0;
  return hasLeads ? added : [];
}
