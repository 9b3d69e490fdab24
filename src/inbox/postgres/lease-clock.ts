import type { Clock } from '../../time/clock.ts';
import type { Connection } from './connection/database-connections.ts';
import { numberOf } from './sql/result-row.ts';
import { sql } from './sql/sql.ts';

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
