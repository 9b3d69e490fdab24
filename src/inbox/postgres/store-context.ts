import type { Clock } from '../../time/clock.ts';
import type { StoreOptions } from '../store-options.ts';
import { type StoredName, targetLabel } from '../target-name.ts';
import type { Connection } from './connection/database-connections.ts';
import type { OpenedSchema } from './read/read-database.ts';
import { bytesOfText, numberOf, type Sql, sql } from './sql.ts';

/** The second part of the advisory lock of who removes rejected deliveries; those of numbers are not negative. */
export const rejectsLock = -1;

/** What a receiver's statements need to know of the inbox that it opened. */
export interface StoreContext extends OpenedSchema {
  readonly storedName: StoredName<Uint8Array>;
  readonly nonceClock: NonceClock;
  readonly options: Pick<StoreOptions, 'clock' | 'targets' | 'claimMs' | 'nonceLifetimeMs'>;
}

/**
 * The time that claims end by, in milliseconds since the epoch: the database's, which all receivers share. By clocks of
 * their own, of which one is ahead, a receiver would claim leads that another one still sends. An index can be searched by
 * it, other than by `clock_timestamp()`.
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

/** Keeps a label for each name, which holds no credentials. Gives those that are new to an inbox which has leads already. */
export const storeLabels = (
  schema: Sql,
  storedName: StoredName<Uint8Array>,
  targets: readonly string[],
): Sql =>
  sql`INSERT INTO ${schema}.targets (name, label) SELECT * FROM unnest(
    ${targets.map(storedName)}::bytea[],
    ${targets.map((target) => bytesOfText(targetLabel(target)))}::bytea[]) ON CONFLICT DO NOTHING
    RETURNING encode(label, 'hex') AS label, EXISTS (SELECT FROM ${schema}.ids) AS has_leads;`;
