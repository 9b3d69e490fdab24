import { hostname } from 'node:os';
import { describeSelf, isAlive, parseHolder } from '../../files/lock-owner.ts';
import type { Clock } from '../../time/clock.ts';
import type { StoreOptions } from '../store-options.ts';
import { storedName, targetLabel } from '../target-name.ts';
import type { Connection } from './connection/database-connections.ts';
import { bytesOf, bytesOfText, numberOf, type Sql, sql, textOf, textOfBytes } from './sql.ts';

/** The second part of the advisory lock of who removes rejected deliveries; those of numbers are not negative. */
export const rejectsLock = -1;

/** What a receiver's statements need to know of the inbox that it opened. */
export interface StoreContext {
  readonly schema: Sql;
  /** Of the advisory locks of this inbox. */
  readonly lockKey: number;
  /** Of the names of targets, and of the ids of erased leads. */
  readonly targetKey: Uint8Array;
  readonly names: TargetNames;
  /** The name on this receiver's leases. */
  readonly owner: Uint8Array;
  readonly receiver: RunningReceiver;
  readonly nonceClock: NonceClock;
  readonly leaseClock: LeaseClock;
  readonly options: Pick<StoreOptions, 'clock' | 'targets' | 'leaseMs' | 'nonceLifetimeMs'>;
}

/**
 * The time that leases end by, in milliseconds since the epoch: the database's, which all receivers share. By clocks of
 * their own, of which one is ahead, it would take over leads that another receiver still hands on.
 */
export class LeaseClock {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ahead: number;

  /** `ahead`: of the database's clock before this machine's. */
  private constructor(clock: Pick<Clock, 'now'>, ahead: number) {
    this.#clock = clock;
    this.#ahead = ahead;
  }

  static async open(connection: Connection, clock: Pick<Clock, 'now'>): Promise<LeaseClock> {
    const before = clock.now();
    const [rows = []] = await connection.run(
      sql`SELECT (1000 * extract(epoch FROM clock_timestamp()))::int8 AS at`,
    );
    const here = (before + clock.now()) / 2;
    return new LeaseClock(clock, numberOf(rows[0]?.['at']) - here);
  }

  now(): number {
    return Math.round(this.#clock.now() + this.#ahead);
  }
}

/** How often a running receiver notes the time, in milliseconds. */
const noteEveryMs = 60_000;

/** What may have passed since the last note while a receiver runs, in milliseconds. */
const longestGapMs = 2 * noteEveryMs;

/**
 * The time that nonces expire by, in milliseconds: the same for all receivers, and only going while one of them runs,
 * since the system's time may be set a day ahead and back again. It is noted in the database beside the database's own
 * time, so that one that starts beside others learns what has passed since their last note.
 */
export class NonceClock {
  readonly #clock: Pick<Clock, 'steady'>;
  readonly #start: number;
  #notedAt: number;

  private constructor(clock: Pick<Clock, 'steady'>, at: number) {
    this.#clock = clock;
    this.#start = at - clock.steady();
    this.#notedAt = at;
  }

  static async open(connection: Connection, schema: Sql, clock: Pick<Clock, 'steady'>): Promise<NonceClock> {
    const [rows = []] = await connection.run(sql`SELECT at + least(${longestGapMs},
      greatest(0, 1000 * extract(epoch FROM clock_timestamp() - noted))::int8) AS at FROM ${schema}.nonce_clock`);
    return new NonceClock(clock, numberOf(rows[0]?.['at']));
  }

  now(): number {
    return Math.round(this.#start + this.#clock.steady());
  }

  /** The statement that notes the time; undefined while the last note is recent. `force`: also then. */
  note(schema: Sql, force = false): Sql | undefined {
    const now = this.now();
    if (!force && now - this.#notedAt < noteEveryMs) return undefined;
    this.#notedAt = now;
    return sql`UPDATE ${schema}.nonce_clock SET at = ${now}, noted = clock_timestamp() WHERE at < ${now};`;
  }
}

/** A receiver on another host that wrote nothing for so long counts as dead, in milliseconds: it cannot be looked at. */
const silentMs = 7 * 86_400_000;

/** Between two notes that a receiver still runs, at least, in milliseconds. */
const seenEveryMs = 3_600_000;

/** The name that this receiver's leases are stored under. `pid`: of this process. */
export const leaseOwner = async (pid: number): Promise<Uint8Array> =>
  bytesOfText(JSON.stringify(await describeSelf(pid)));

/** Ends the leases of receivers that were killed on this host, and forgets those that do not run any more. */
export async function removeDeadReceivers(
  connection: Connection,
  schema: Sql,
  { pid, now }: { readonly pid: number; readonly now: number },
): Promise<void> {
  const [leased = [], running = []] = await connection.run(
    sql`SELECT DISTINCT encode(owner, 'hex') AS owner FROM ${schema}.outstanding WHERE lease > 0;
      SELECT encode(owner, 'hex') AS owner, max(seen) AS seen FROM ${schema}.receivers GROUP BY receivers.owner;`,
  );
  for (const { owner } of leased) {
    if (!(await isDead(textOf(owner), pid))) continue;
    await connection.run(sql`UPDATE ${schema}.outstanding SET lease = 0 WHERE (lead, target) IN (
      SELECT lead, target FROM ${schema}.outstanding WHERE owner = ${bytesOf(owner)} AND lease > 0 FOR UPDATE SKIP LOCKED)`);
  }
  for (const { owner, seen } of running) {
    const isElsewhere = parseHolder(textOfBytes(bytesOf(owner)))?.host !== hostname();
    const isSilent = isElsewhere && numberOf(seen) < now - silentMs;
    if (isSilent || (await isDead(textOf(owner), pid))) {
      await connection.run(sql`DELETE FROM ${schema}.receivers WHERE owner = ${bytesOf(owner)}`);
    }
  }
}

async function isDead(owner: string, pid: number): Promise<boolean> {
  const holder = parseHolder(textOfBytes(bytesOf(owner)));
  return holder !== undefined && !(await isAlive(holder, pid));
}

/** This receiver, and the stored names of the targets that it hands each lead to. */
export class RunningReceiver {
  readonly #schema: Sql;
  readonly #owner: Uint8Array;
  #seen: number;

  constructor(schema: Sql, owner: Uint8Array, now: number) {
    this.#schema = schema;
    this.#owner = owner;
    this.#seen = now;
  }

  added(targets: readonly Uint8Array[]): Sql {
    return sql`INSERT INTO ${this.#schema}.receivers (owner, target, seen)
      SELECT ${this.#owner}, target, ${this.#seen} FROM unnest(${targets}::bytea[]) AS target ON CONFLICT DO NOTHING;`;
  }

  /** That it still runs; undefined while the last note is recent. */
  renewed(now: number): Sql | undefined {
    if (now - this.#seen < seenEveryMs) return undefined;
    this.#seen = now;
    return sql`UPDATE ${this.#schema}.receivers SET seen = ${now} WHERE owner = ${this.#owner};`;
  }

  removed(): Sql {
    return sql`DELETE FROM ${this.#schema}.receivers WHERE owner = ${this.#owner};`;
  }
}

/** A target under its stored name, a keyed digest: the name itself may hold credentials. */
export class TargetNames {
  readonly #key: Uint8Array;
  readonly #stored = new Map<string, Uint8Array>();

  /** `key`: of this inbox. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  storedName(name: string): Uint8Array {
    let stored = this.#stored.get(name);
    if (stored === undefined) {
      stored = storedName(this.#key, name);
      this.#stored.set(name, stored);
    }
    return stored;
  }
}

/** Keeps a label for each name, which holds no credentials. */
export const storeLabels = (schema: Sql, names: TargetNames, targets: readonly string[]): Sql =>
  sql`INSERT INTO ${schema}.targets (name, label) SELECT * FROM unnest(
    ${targets.map((target) => names.storedName(target))}::bytea[],
    ${targets.map((target) => bytesOfText(targetLabel(target)))}::bytea[]) ON CONFLICT DO NOTHING;`;
