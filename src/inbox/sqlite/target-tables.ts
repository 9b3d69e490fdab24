import { setImmediate as otherWork } from 'node:timers/promises';
import type { KnownLead } from '../decide-verdict.ts';
import {
  type Backlog,
  type DueLead,
  type LeaseAnswer,
  type StoredRef,
  sumBacklog,
  type TargetLease,
} from '../inbox.ts';
import { isDead, isGone, heartbeatEveryMs } from '../receiver-liveness.ts';
import { longestLeaseMs } from '../store-options.ts';
import { type StoredName, storedNames, targetLabel } from '../target-name.ts';
import { type Database, fromColumn, type Row, textOf, toColumn, type Statements } from './libsql.ts';

interface TargetLeasesOptions {
  /** Every target that this receiver hands each lead to. */
  readonly wanted: readonly string[];
  readonly owner: string;
  readonly leaseMs: number;
  readonly storedName: StoredName<string>;
}

/** Leads that are read at once: there may be millions, and the database is read on the event loop. */
const outstandingPage = 1000;

const outstandingTargets =
  'SELECT name, label FROM targets WHERE EXISTS (SELECT 1 FROM work WHERE target = name AND done = 0)';

/** In the very words of the index. */
const freeAt = 'MAX(due_at, lease)';
const dueOf = `FROM work WHERE target = ? AND done = 0 AND dead = 0 AND ${freeAt} <= ? ORDER BY ${freeAt}`;

/**
 * The table `work`: which targets have had each lead, and which receiver hands it on now. A lease expires by itself, so
 * that another receiver can do what one that was killed had not done. Ids are as `toColumn` gives them.
 */
export class TargetLeases {
  readonly #sql: Statements;
  readonly #options: TargetLeasesOptions;

  constructor(sql: Statements, options: TargetLeasesOptions) {
    this.#sql = sql;
    this.#options = options;
  }

  /** Where the wanted targets of one lead stand. */
  stateOf(id: string, now: number): Pick<KnownLead, 'done' | 'leasedElsewhere' | 'tries'> {
    const done: string[] = [];
    const leasedElsewhere: string[] = [];
    const tries = new Map<string, number>();
    for (const target of this.#options.wanted) {
      const row = this.#rowOf(id, target);
      if (row === undefined) continue;
      if (row['done'] === 1) done.push(target);
      else {
        tries.set(target, triesOf(row, this.#options.owner));
        if (this.#isLeasedElsewhere(row, now)) leasedElsewhere.push(target);
      }
    }
    return { done, leasedElsewhere, tries };
  }

  /** A lead that came is due as well: where this receiver is killed, it is to be tried again. Written with `insertWaiting`. */
  grant(id: string, target: string, now: number): void {
    const { owner, leaseMs, storedName } = this.#options;
    this.#sql.insertLater(
      'work',
      [id, storedName(target), 0, owner, now + leaseMs, 0, now, now, 0],
      `ON CONFLICT DO UPDATE SET owner = excluded.owner, lease = excluded.lease,
       tries = tries + (lease > 0 AND owner <> excluded.owner)`,
    );
  }

  release(id: string, { target, result, retryAt, dead, since }: TargetLease): void {
    const { owner, storedName } = this.#options;
    this.#sql.run(
      `UPDATE work SET lease = 0, tries = tries + ?, due_at = COALESCE(?, due_at), dead = MAX(dead, ? AND COALESCE(since = ?, 1))
       WHERE lead = ? AND target = ? AND owner = ? AND done = 0`,
      result === undefined ? 0 : 1,
      retryAt ?? null,
      dead === true ? 1 : 0,
      since ?? null,
      id,
      storedName(target),
      owner,
    );
  }

  /** Notes that the target has had the lead. Returns the wanted targets that have not. */
  settle(id: string, target: string): string[] {
    const { wanted, storedName } = this.#options;
    this.#setDone(id, storedName(target));
    return wanted.filter((one) => this.#rowOf(id, one)?.['done'] === 0);
  }

  /** What is outstanding of the lead is due now. Returns whether anything is. */
  beginAnew(id: string, now: number): boolean {
    const begin = 'UPDATE work SET since = ?1, due_at = ?1, dead = 0 WHERE lead = ?2 AND done = 0';
    return this.#sql.run(begin, now, id) > 0;
  }

  /**
   * Notes that the target has had the lead, and the same of the only other forward that is outstanding for it, unless a
   * receiver that runs wants that one. Returns its label; undefined where there is none, or several.
   */
  markDoneAtNewAddress(id: string, target: string, now: number): string | undefined {
    const stored = this.#options.storedName(target);
    this.#setDone(id, stored);
    const [forward, ...more] = this.#sql.all(
      `SELECT target, label, owner, lease FROM work JOIN targets ON name = target
       WHERE lead = ? AND target <> ? AND done = 0 AND label LIKE 'forward %'`,
      id,
      stored,
    );
    if (forward === undefined || more.length > 0 || this.#isLeasedElsewhere(forward, now)) return undefined;
    const moved = textOf(forward['target']);
    if (this.#sql.all('SELECT 1 FROM receivers WHERE target = ?', moved).length > 0) return undefined;
    this.#setDone(id, moved);
    return textOf(forward['label']);
  }

  /** Leases what is outstanding for the target, unless another receiver holds a lease on it. */
  lease(id: string, { target, isQuestion }: TargetLease, now: number): LeaseAnswer {
    const row = this.#rowOf(id, target);
    if (row?.['done'] === 1) return { state: 'settled', tries: 0 };
    if (row === undefined) return { state: 'not outstanding', tries: 0 };
    if (this.#isLeasedElsewhere(row, now)) return { state: 'busy', tries: Number(row['tries']) };
    const tries = triesOf(row, this.#options.owner);
    if (isQuestion === true) return { state: 'leased', tries };
    const { owner, leaseMs, storedName } = this.#options;
    this.#sql.run(
      'UPDATE work SET owner = ?, lease = ?, tries = ? WHERE lead = ? AND target = ?',
      owner,
      now + leaseMs,
      tries,
      id,
      storedName(target),
    );
    return { state: 'leased', tries };
  }

  #setDone(id: string, stored: string): void {
    this.#sql.run(
      `INSERT INTO work VALUES (?, ?, 1, ?, 0, 0, NULL, NULL, 0)
       ON CONFLICT DO UPDATE SET done = 1, lease = 0, dead = 0`,
      id,
      stored,
      this.#options.owner,
    );
  }

  #rowOf(id: string, target: string): Row | undefined {
    const stored = this.#options.storedName(target);
    return this.#sql.get(
      'SELECT done, owner, lease, tries FROM work WHERE lead = ? AND target = ?',
      id,
      stored,
    );
  }

  #isLeasedElsewhere(row: Row, now: number): boolean {
    const lease = Number(row['lease']);
    return row['owner'] !== this.#options.owner && lease > now && lease <= now + longestLeaseMs;
  }
}

/** A lease that another receiver has not ended is a try of which nobody knows what came. `own`: of this receiver. */
const triesOf = ({ lease, owner, tries }: Row, own: string): number =>
  Number(tries) + (Number(lease) > 0 && owner !== own ? 1 : 0);

/** Reads which leads a target has not had, by its stored name. `owner`: of this receiver. */
export function outstandingLeads(
  database: Database,
  owner: string,
): {
  readonly due: (
    target: string,
    by: number,
    limit: number,
    leadIds?: readonly string[],
  ) => readonly DueLead[];
  readonly next: (target: string) => number | undefined;
  /** Targets that have not had some lead. */
  readonly targets: () => readonly string[];
  /** At most `outstandingPage` of them, those behind a lead, due or not; and the last lead that was looked at. */
  readonly page: (target: string, after: string) => { refs: readonly StoredRef[]; last: string | undefined };
} {
  const columns = `lead, leads.seq, tries, owner, lease, since, ${freeAt} AS free_at`;
  const due = database.prepare(
    `SELECT ${columns} FROM (SELECT * ${dueOf} LIMIT ?) CROSS JOIN leads ON id = lead ORDER BY free_at`,
  );
  const dueOfLead = database.prepare(
    `SELECT ${columns} FROM work CROSS JOIN leads ON id = lead
     WHERE lead = ? AND target = ? AND done = 0 AND dead = 0 AND ${freeAt} <= ?`,
  );
  const dueRows = (target: string, by: number, limit: number, leadIds?: readonly string[]): readonly Row[] =>
    leadIds === undefined
      ? due.all([target, by, limit])
      : leadIds
          .flatMap((leadId) => dueOfLead.all([toColumn(leadId), target, by]))
          .sort((a, b) => Number(a['free_at']) - Number(b['free_at']))
          .slice(0, limit);
  const next = database.prepare(`SELECT ${freeAt} AS free_at ${dueOf} LIMIT 1`);
  const page = database.prepare(
    `SELECT lead, seq FROM work CROSS JOIN leads ON id = lead
     WHERE target = ? AND done = 0 AND lead > ? ORDER BY lead LIMIT ${outstandingPage}`,
  );
  return {
    due: (target, by, limit, leadIds) =>
      dueRows(target, by, limit, leadIds).map((row): DueLead => ({
        leadId: fromColumn(textOf(row['lead'])),
        seq: Number(row['seq']),
        tries: triesOf(row, owner),
        since: Number(row['since']),
        dueAt: Number(row['free_at']),
      })),
    next(target) {
      const [row] = next.all([target, Number.MAX_SAFE_INTEGER]);
      return row && Number(row['free_at']);
    },
    targets: () =>
      database
        .prepare(outstandingTargets)
        .all([])
        .map((row) => textOf(row['name'])),
    page(target, after) {
      const rows = page.all([target, after]);
      const refs = rows.map((row) => ({ leadId: fromColumn(textOf(row['lead'])), seq: Number(row['seq']) }));
      const last = rows.at(-1);
      return { refs, last: last && textOf(last['lead']) };
    },
  };
}

/** How this inbox stores the names of targets: by the key in its table `target_key`. */
export function storedNamesOf(database: Database): StoredName<string> {
  const key = database.prepare('SELECT key FROM target_key').get([])?.['key'];
  if (!(key instanceof Uint8Array)) throw new Error('the inbox has no key for the names of targets');
  return storedNames(key, (digest) => digest.toString('base64url'));
}

/** The table `targets`: beside each stored name a label, which holds no credentials. */
export function storeLabels(
  database: Database,
  storedName: StoredName<string>,
  targets: readonly string[],
): void {
  const insert = database.prepare('INSERT INTO targets VALUES (?, ?) ON CONFLICT DO NOTHING');
  for (const target of targets) insert.run([storedName(target), targetLabel(target)]);
}

/**
 * The rows of this receiver in the table `receivers`: which receivers run on this inbox now, and the stored names of the
 * targets of each. A target that one of them wants is not taken for the old address of another.
 */
export class RunningReceiver {
  readonly #sql: Statements;
  readonly #owner: string;
  #seen = 0;

  /** `owner`: the name of this receiver, as on its leases. */
  constructor(sql: Statements, owner: string) {
    this.#sql = sql;
    this.#owner = owner;
  }

  /** This receiver runs, and hands each lead to these targets. */
  add(targets: readonly string[], now: number): void {
    for (const target of targets) {
      this.#sql.run(
        'INSERT INTO receivers VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
        this.#owner,
        target,
        now,
      );
    }
  }

  /** This receiver still runs. Inside a transaction. */
  renew(now: number): void {
    if (now - this.#seen < heartbeatEveryMs) return;
    this.#sql.run('UPDATE receivers SET seen = ? WHERE owner = ?', now, this.#owner);
    this.#seen = now;
  }

  /** This receiver ends. */
  remove(): void {
    this.#sql.run('DELETE FROM receivers WHERE owner = ?', this.#owner);
  }
}

/** Ends the leases of receivers that were killed on this host, each of which may have been a try, and forgets those that do not run any more. */
export function removeDeadReceivers(database: Database, pid: number, now: number): void {
  const leased = database.prepare('SELECT DISTINCT owner FROM work WHERE done = 0 AND lease > 0').all([]);
  const endLeases = database.prepare(
    'UPDATE work SET lease = 0, tries = tries + 1 WHERE done = 0 AND owner = ? AND lease > 0',
  );
  for (const row of leased) {
    const owner = textOf(row['owner']);
    if (isDead(owner, pid)) endLeases.run([owner]);
  }
  const running = database.prepare('SELECT owner, MAX(seen) AS seen FROM receivers GROUP BY owner').all([]);
  const remove = database.prepare('DELETE FROM receivers WHERE owner = ?');
  for (const row of running) {
    const owner = textOf(row['owner']);
    if (isGone(owner, { pid, seen: Number(row['seen']), now })) remove.run([owner]);
  }
}

/** Leads that are read in one step: a millisecond or two. */
const step = 1000;

/**
 * `Inbox.backlog`. `wanted`: stored names of the targets of this receiver. There may be millions while an app is away, and
 * the database is read on the event loop.
 */
export async function readBacklog(
  database: Database,
  wanted: readonly string[],
): Promise<readonly Backlog[]> {
  const targets = database.prepare(outstandingTargets).all([]);
  const read = database.prepare(
    `SELECT COUNT(*) AS read, SUM(dead) AS dead, MIN(first_at) FILTER (WHERE dead = 0) AS oldest, MAX(lead) AS last FROM
     (SELECT lead, dead, first_at FROM work JOIN leads ON id = lead WHERE target = ? AND done = 0 AND lead > ?
      ORDER BY lead LIMIT ${step})`,
  );
  const parts: Backlog[] = [];
  for (const { name, label } of targets) {
    const target = wanted.includes(textOf(name)) ? targetLabel(textOf(label)) : undefined;
    for (let last = ''; ;) {
      const row = read.get([textOf(name), last]);
      const count = Number(row?.['read'] ?? 0);
      const dead = Number(row?.['dead'] ?? 0);
      const oldestAt = Number(row?.['oldest'] ?? Number.POSITIVE_INFINITY);
      if (count > 0) parts.push({ target, leads: count - dead, dead, oldestAt });
      if (count < step) break;
      last = textOf(row?.['last']);
      await otherWork();
    }
  }
  return sumBacklog(parts);
}
