import type { Clock } from '../../time/clock.ts';
import { isDead, isGone } from '../receiver-liveness.ts';
import type { StoreOptions } from '../store-options.ts';
import { type StoredName, targetLabel } from '../target-name.ts';
import type { Connection } from './connection/database-connections.ts';
import { type OpenedSchema, storedText } from './read/read-database.ts';
import { bytesOf, bytesOfText, numberOf, type Sql, sql } from './sql.ts';

/** The second part of the advisory lock of who removes rejected deliveries; those of numbers are not negative. */
export const rejectsLock = -1;

/** What a receiver's statements need to know of the inbox that it opened. */
export interface StoreContext extends OpenedSchema {
  readonly storedName: StoredName<Uint8Array>;
  /** Stored names of the receiver's targets in hex, by their names. */
  readonly wanted: ReadonlyMap<string, string>;
  /** The name on this receiver's leases. */
  readonly owner: Uint8Array;
  readonly receiver: RunningReceiver;
  readonly nonceClock: NonceClock;
  readonly options: Pick<StoreOptions, 'clock' | 'targets' | 'leaseMs' | 'nonceLifetimeMs'>;
}

/**
 * The time that leases end by, in milliseconds since the epoch: the database's, which all receivers share. By clocks of
 * their own, of which one is ahead, it would take over leads that another receiver still hands on. An index can be searched
 * by it, other than by `clock_timestamp()`.
 */
export const databaseTime: Sql = sql`(1000 * extract(epoch FROM statement_timestamp()))::int8`;

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

/** Ends the leases of receivers that were killed on this host, each of which may have been a try, and forgets those that do not run any more. */
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
    if (!isDead(storedText(owner), pid)) continue;
    await connection.run(sql`UPDATE ${schema}.outstanding SET lease = 0, tries = tries + 1 WHERE (lead, target) IN (
      SELECT lead, target FROM ${schema}.outstanding WHERE owner = ${bytesOf(owner)} AND lease > 0 FOR UPDATE SKIP LOCKED)`);
  }
  for (const { owner, seen } of running) {
    if (isGone(storedText(owner), { pid, seen: numberOf(seen), now })) {
      await connection.run(sql`DELETE FROM ${schema}.receivers WHERE owner = ${bytesOf(owner)}`);
    }
  }
}

/** This receiver, and the stored names of the targets that it hands each lead to. */
export class RunningReceiver {
  readonly #schema: Sql;
  readonly #owner: Uint8Array;
  readonly #targets: readonly Uint8Array[];

  constructor(schema: Sql, owner: Uint8Array, targets: readonly Uint8Array[]) {
    this.#schema = schema;
    this.#owner = owner;
    this.#targets = targets;
  }

  get handsOn(): boolean {
    return this.#targets.length > 0;
  }

  /** That it runs now, also where others took it for dead. */
  seen(now: number): Sql {
    return sql`INSERT INTO ${this.#schema}.receivers (owner, target, seen)
      SELECT ${this.#owner}, target, ${Math.round(now)} FROM unnest(${this.#targets}::bytea[]) AS target
      ON CONFLICT (owner, target) DO UPDATE SET seen = excluded.seen;`;
  }

  removed(): Sql {
    return sql`DELETE FROM ${this.#schema}.receivers WHERE owner = ${this.#owner};`;
  }
}

/** Keeps a label for each name, which holds no credentials. */
export const storeLabels = (
  schema: Sql,
  storedName: StoredName<Uint8Array>,
  targets: readonly string[],
): Sql =>
  sql`INSERT INTO ${schema}.targets (name, label) SELECT * FROM unnest(
    ${targets.map(storedName)}::bytea[],
    ${targets.map((target) => bytesOfText(targetLabel(target)))}::bytea[]) ON CONFLICT DO NOTHING;`;
