import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setImmediate as otherWork } from 'node:timers/promises';
import { describeSelf, isAlive, parseHolder } from '../../files/lock-owner.ts';
import type { KnownLead } from '../decide-verdict.ts';
import { type Backlog, inOrderOfLabels, type LeaseState, type StoredRef } from '../inbox.ts';
import { storedName, targetLabel } from '../target-name.ts';
import { type Database, fromColumn, type Row, type Statement, textOf } from './libsql.ts';

interface TargetLeasesOptions {
  /** Every target that this receiver hands each lead to. */
  readonly wanted: readonly string[];
  readonly owner: string;
  readonly leaseMs: number;
  /** The names under which targets are stored. */
  readonly names: TargetNames;
  readonly receivers: Pick<ReceiverTable, 'isWanted'>;
}

/** Leads that are read at once: there may be millions, and the database is read on the event loop. */
export const unsettledPage = 1000;

/**
 * The table `work`: which targets have had each lead, and which receiver hands it on now. A lease expires by itself, so
 * that another receiver can do what one that was killed had not done. Ids are as `toColumn` gives them.
 */
export class TargetLeases {
  readonly #options: TargetLeasesOptions;
  readonly #find: Statement;
  readonly #grant: Statement;
  readonly #release: Statement;
  readonly #settle: Statement;
  readonly #unsettledLeads: Statement;
  readonly #otherForwards: Statement;

  constructor(database: Database, options: TargetLeasesOptions) {
    this.#options = options;
    this.#find = database.prepare('SELECT done, owner, lease FROM work WHERE lead = ? AND target = ?');
    this.#grant = database.prepare(
      `INSERT INTO work VALUES (?, ?, 0, ?, ?)
       ON CONFLICT DO UPDATE SET owner = excluded.owner, lease = excluded.lease`,
    );
    this.#release = database.prepare(
      'UPDATE work SET lease = 0 WHERE lead = ? AND target = ? AND owner = ? AND done = 0',
    );
    this.#settle = database.prepare(
      `INSERT INTO work VALUES (?, ?, 1, ?, 0) ON CONFLICT DO UPDATE SET done = 1, lease = 0`,
    );
    this.#unsettledLeads = database.prepare(
      `SELECT id, seq FROM work JOIN leads ON id = lead WHERE target = ? AND done = 0 AND lead > ?
       ORDER BY lead LIMIT ${unsettledPage}`,
    );
    this.#otherForwards = database.prepare(
      `SELECT target, label, owner, lease FROM work JOIN targets ON name = target
       WHERE lead = ? AND target <> ? AND done = 0 AND label LIKE 'forward %'`,
    );
  }

  /** Where the wanted targets of one lead stand. */
  stateOf(id: string, now: number): Pick<KnownLead, 'settled' | 'leasedElsewhere'> {
    const settled: string[] = [];
    const leasedElsewhere: string[] = [];
    for (const target of this.#options.wanted) {
      const row = this.#rowOf(id, target);
      if (row === undefined) continue;
      if (row['done'] === 1) settled.push(target);
      else if (this.#isLeasedElsewhere(row, now)) leasedElsewhere.push(target);
    }
    return { settled, leasedElsewhere };
  }

  grant(id: string, targets: readonly string[], now: number): void {
    const { owner, leaseMs } = this.#options;
    for (const target of targets) this.#grant.run([id, this.#stored(target), owner, now + leaseMs]);
  }

  release(id: string, target: string): void {
    this.#release.run([id, this.#stored(target), this.#options.owner]);
  }

  /** Notes that the target has had the lead. Returns the wanted targets that have not. */
  settle(id: string, target: string): string[] {
    this.#settle.run([id, this.#stored(target), this.#options.owner]);
    return this.#options.wanted.filter((wanted) => this.#rowOf(id, wanted)?.['done'] !== 1);
  }

  /**
   * Notes that the target has had the lead, and settles the only other forward that is outstanding for it, unless a
   * receiver that runs wants that one. Returns its label; undefined where there is none, or several.
   */
  settleMoved(id: string, target: string, now: number): string | undefined {
    const { owner, receivers } = this.#options;
    this.#settle.run([id, this.#stored(target), owner]);
    const [forward, ...more] = this.#otherForwards.all([id, this.#stored(target)]);
    if (forward === undefined || more.length > 0 || this.#isLeasedElsewhere(forward, now)) return undefined;
    if (receivers.isWanted(textOf(forward['target']))) return undefined;
    this.#settle.run([id, textOf(forward['target']), owner]);
    return textOf(forward['label']);
  }

  /** Leases what is outstanding for the target, unless another receiver holds a lease on it. */
  lease(id: string, target: string, now: number): LeaseState {
    const row = this.#rowOf(id, target);
    if (row?.['done'] === 1) return 'settled';
    if (row === undefined) return 'not outstanding';
    if (this.#isLeasedElsewhere(row, now)) return 'busy';
    this.grant(id, [target], now);
    return 'leased';
  }

  /** At most `unsettledPage` of them, those behind an id, in the order of ids. */
  unsettledLeads(target: string, after: string): StoredRef[] {
    return this.#unsettledLeads
      .all([this.#stored(target), after])
      .map((row) => ({ leadId: fromColumn(textOf(row['id'])), seq: Number(row['seq']) }));
  }

  #stored(target: string): string {
    return this.#options.names.storedName(target);
  }

  #rowOf(id: string, target: string): Row | undefined {
    return this.#find.get([id, this.#stored(target)]);
  }

  #isLeasedElsewhere(row: Row, now: number): boolean {
    return row['owner'] !== this.#options.owner && Number(row['lease']) > now;
  }
}

/**
 * The tables `target_key` and `targets`: a target is stored under a keyed digest of its name, since the name may hold
 * credentials, beside a label that holds none.
 */
export class TargetNames {
  readonly #key: Uint8Array;
  readonly #stored = new Map<string, string>();

  constructor(database: Database) {
    const key = database.prepare('SELECT key FROM target_key').get([])?.['key'];
    if (!(key instanceof Uint8Array)) throw new Error('the inbox has no key for the names of targets');
    this.#key = key;
  }

  /** The name under which a target is stored. */
  storedName(name: string): string {
    let stored = this.#stored.get(name);
    if (stored === undefined) {
      stored = storedName(this.#key, name).toString('base64url');
      this.#stored.set(name, stored);
    }
    return stored;
  }
}

export function storeLabels(database: Database, names: TargetNames, targets: readonly string[]): void {
  const insert = database.prepare('INSERT INTO targets VALUES (?, ?) ON CONFLICT DO NOTHING');
  for (const target of targets) insert.run([names.storedName(target), targetLabel(target)]);
}

/** Gives the rows of a version that stored names in clear text their keyed names. Inside a transaction. */
export function nameTargetsByKey(database: Database): void {
  const clear = database.prepare('SELECT DISTINCT target FROM work').all([]);
  database.prepare('INSERT INTO target_key VALUES (?, ?)').run([randomBytes(32), clear.length > 0 ? 1 : 0]);
  const names = new TargetNames(database);
  // Two names of one target become one row: the target has had the lead under either of them.
  const copy = database.prepare(
    `INSERT INTO work SELECT lead, ?, done, owner, lease FROM work WHERE target = ?
     ON CONFLICT DO UPDATE SET done = MAX(done, excluded.done)`,
  );
  const remove = database.prepare('DELETE FROM work WHERE target = ?');
  for (const row of clear) {
    const target = textOf(row['target']);
    storeLabels(database, names, [target]);
    copy.run([names.storedName(target), target]);
    remove.run([target]);
  }
}

/** Between two notes that a receiver still runs, at least, in milliseconds. */
const seenEveryMs = 3_600_000;

/**
 * The table `receivers`: which receivers run on this inbox now, and the targets of each, as `TargetNames` stores them. A
 * target that one of them wants is not settled for another address.
 */
export class ReceiverTable {
  readonly #owner: string;
  readonly #insert: Statement;
  readonly #remove: Statement;
  readonly #keepSeen: Statement;
  readonly #isWanted: Statement;
  #seen = 0;

  /** `owner`: the name of this receiver, as on its leases. */
  constructor(database: Database, owner: string) {
    this.#owner = owner;
    this.#insert = database.prepare('INSERT INTO receivers VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    this.#remove = database.prepare('DELETE FROM receivers WHERE owner = ?');
    this.#keepSeen = database.prepare('UPDATE receivers SET seen = ? WHERE owner = ?');
    this.#isWanted = database.prepare('SELECT 1 FROM receivers WHERE target = ?');
  }

  /** This receiver runs, and hands each lead to these targets. */
  add(targets: readonly string[], now: number): void {
    for (const target of targets) this.#insert.run([this.#owner, target, now]);
  }

  /** This receiver still runs. Inside a transaction. */
  renew(now: number): void {
    if (now - this.#seen < seenEveryMs) return;
    this.#keepSeen.run([now, this.#owner]);
    this.#seen = now;
  }

  /** This receiver ends. */
  remove(): void {
    this.#remove.run([this.#owner]);
  }

  isWanted(target: string): boolean {
    return this.#isWanted.all([target]).length > 0;
  }
}

/** A receiver on another host that wrote nothing for so long counts as dead, in milliseconds: it cannot be looked at. */
const silentMs = 7 * 86_400_000;

/** The name that this receiver's leases are stored under. `pid`: of this process. */
export async function leaseOwner(pid: number): Promise<string> {
  return JSON.stringify(await describeSelf(pid));
}

/** Ends the leases of receivers that are dead, so that nobody has to wait until such a lease expires. */
export async function endDeadLeases(database: Database, pid: number): Promise<void> {
  const owners = database.prepare('SELECT DISTINCT owner FROM work WHERE done = 0 AND lease > 0').all([]);
  const endLeases = database.prepare('UPDATE work SET lease = 0 WHERE done = 0 AND owner = ?');
  for (const row of owners) {
    const owner = textOf(row['owner']);
    if (await isDead(owner, pid)) endLeases.run([owner]);
  }
}

/** Removes the receivers that were killed, so that their targets no longer count as wanted. */
export async function removeDeadReceivers(database: Database, pid: number, now: number): Promise<void> {
  const receivers = database.prepare('SELECT owner, MAX(seen) AS seen FROM receivers GROUP BY owner').all([]);
  const remove = database.prepare('DELETE FROM receivers WHERE owner = ?');
  for (const row of receivers) {
    const owner = textOf(row['owner']);
    const isElsewhere = parseHolder(owner)?.host !== hostname();
    const isSilent = isElsewhere && Number(row['seen']) < now - silentMs;
    if (isSilent || (await isDead(owner, pid))) remove.run([owner]);
  }
}

async function isDead(owner: string, pid: number): Promise<boolean> {
  const holder = parseHolder(owner);
  return holder !== undefined && !(await isAlive(holder, pid));
}

/** Leads that are read in one step: a millisecond or two. */
const step = 1000;

/** `Inbox.backlog`. `wanted`: stored names of the targets of this receiver. There may be millions while an app is away, and the database is read on the event loop. */
export async function readBacklog(
  database: Database,
  wanted: readonly string[],
): Promise<readonly Backlog[]> {
  const targets = database
    .prepare(
      'SELECT name, label FROM targets WHERE EXISTS (SELECT 1 FROM work WHERE target = name AND done = 0)',
    )
    .all([]);
  const read = database.prepare(
    `SELECT COUNT(*) AS leads, MIN(first_at) AS oldest, MAX(lead) AS last FROM
     (SELECT lead, first_at FROM work JOIN leads ON id = lead WHERE target = ? AND done = 0 AND lead > ?
      ORDER BY lead LIMIT ${step})`,
  );
  const found = new Map<string | undefined, Backlog>();
  for (const { name, label } of targets) {
    const target = wanted.includes(textOf(name)) ? targetLabel(textOf(label)) : undefined;
    for (let last = ''; ;) {
      const row = read.get([textOf(name), last]);
      const leads = Number(row?.['leads'] ?? 0);
      if (leads > 0) {
        const before = found.get(target) ?? { target, leads: 0, oldestAt: Number.POSITIVE_INFINITY };
        const oldestAt = Math.min(before.oldestAt, Number(row?.['oldest']));
        found.set(target, { target, leads: before.leads + leads, oldestAt });
      }
      if (leads < step) break;
      last = textOf(row?.['last']);
      await otherWork();
    }
  }
  return inOrderOfLabels(found.values());
}
