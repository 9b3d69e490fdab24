import { messageOf } from '../../errors.ts';
import type { Clock } from '../../time/clock.ts';
import type { Connection, Connections } from './connection/database-connections.ts';
import { DatabaseUnavailableError } from './connection/session/database-errors.ts';
import { isForbidden, isLocked } from './postgres-errors.ts';
import { addMonths } from './schema/migrate.ts';
import { monthOf } from './schema/partitions.ts';
import type { Sql } from './sql/sql.ts';

/** How long after an attempt that failed another one is made, in milliseconds. */
const againMs = 3_600_000;

interface MonthsAheadOptions {
  readonly schema: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly warn: (text: string) => void;
}

/**
 * Keeps partitions for the next months, where the role may make them. A month without partitions refuses no lead, since
 * there is a default one; but it cannot be dropped as a whole.
 */
export class MonthsAhead {
  readonly #options: MonthsAheadOptions;
  #month = '';
  #nextAt = 0;
  #isSaid = false;

  constructor(options: MonthsAheadOptions) {
    this.#options = options;
  }

  /** Makes what is missing. */
  async add(connection: Connection): Promise<void> {
    const { schema, clock, warn } = this.#options;
    const now = clock.now();
    this.#nextAt = now + againMs;
    try {
      await addMonths(connection, schema, now);
      this.#month = monthOf(now).name;
    } catch (error) {
      if (!isForbidden(error) && !isLocked(error)) throw error;
      if (isForbidden(error)) this.#month = monthOf(now).name;
      if (this.#isSaid) return;
      this.#isSaid = true;
      warn(
        "the inbox has no partitions for the next months: run 'leads inbox migrate' with the role that owns it",
      );
    }
  }

  /** The same when a new month has come since, in the background: no delivery waits for it. */
  check(connections: Connections): void {
    const now = this.#options.clock.now();
    if (now < this.#nextAt || monthOf(now).name === this.#month) return;
    this.#nextAt = now + againMs;
    connections
      .use((connection) => this.add(connection))
      .catch((error: unknown) => {
        // The deliveries of now find that out as well.
        if (error instanceof DatabaseUnavailableError) return;
        this.#options.warn(
          `the inbox got no partitions for the next months, which is tried again in an hour: ${messageOf(error)}`,
        );
      });
  }
}
