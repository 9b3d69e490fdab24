import { LeadsError } from '../../errors.ts';
import { type Clock, slept } from '../../time/clock.ts';
import type { InboxWarning } from '../problems.ts';
import type { StoreOptions } from '../store-options.ts';
import type { Connections } from './connection/database-connections.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import { sqlState } from './postgres-errors.ts';
import { numberOf, type Row, sql, textOf } from './sql.ts';

/** Columns that `copiesIn` and `copiesWarning` read. Without the role `pg_monitor`, too, the number of standbys is seen. */
export const copiesColumns = sql`current_setting('synchronous_standby_names') AS standby_names,
  (SELECT count(*) FROM pg_catalog.pg_stat_replication) AS standbys`;

/**
 * Servers that have a lead on disk when its COMMIT is answered, while `synchronous_commit` is at least `on`: this one, and
 * the standbys that its `synchronous_standby_names` waits for (`FIRST 2 (a, b, c)`, `ANY 1 (*)`, or a list: one).
 */
export function copiesIn(row: Row): number {
  const names = textOf(row['standby_names']).trim();
  if (names === '') return 1;
  const [, count = '1'] = /^(?:(?:FIRST|ANY)\s*)?(\d+)\s*\(/i.exec(names) ?? [];
  return 1 + Number(count);
}

/** That a lead may be lost with this server, though there are others, or though the URL asks for more copies. */
export function copiesWarning(row: Row, { url, shown }: DatabaseLocation): InboxWarning | undefined {
  const copies = copiesIn(row);
  if (copies < url.copies) return { kind: 'inbox-in-too-few-copies', copies, wanted: url.copies };
  const standbys = numberOf(row['standbys']);
  const hosts = url.hosts.length;
  return copies > 1 || (standbys === 0 && hosts === 1)
    ? undefined
    : { kind: 'inbox-in-one-copy', inbox: shown, standbys, hosts };
}

const everyMs = 60_000;

/** What an acknowledgement promises changes while a receiver runs, since servers are replaced. */
export class CopiesWatch {
  readonly #location: DatabaseLocation;
  readonly #warn: StoreOptions['warn'];
  #copies: number;
  #warned: InboxWarning['kind'] | undefined;

  /** `row`: as it is now; what is wrong with it was said. */
  constructor(row: Row, location: DatabaseLocation, warn: StoreOptions['warn']) {
    this.#location = location;
    this.#warn = warn;
    this.#copies = copiesIn(row);
    this.#warned = copiesWarning(row, location)?.kind;
  }

  get copies(): number {
    return this.#copies;
  }

  /** Asks every minute until `signal` aborts, and warns when it has become less. */
  async run(connections: Connections, clock: Clock, signal: AbortSignal): Promise<void> {
    while (await slept(clock, everyMs, signal)) {
      try {
        const [[row = {}] = []] = await connections.use((connection) =>
          connection.run(sql`SELECT ${copiesColumns}`),
        );
        this.#read(row);
      } catch (error) {
        // The deliveries of now find that out as well: a server that lets nobody in is one, too.
        if (!(error instanceof LeadsError) && sqlState(error) === '') throw error;
      }
    }
  }

  #read(row: Row): void {
    this.#copies = copiesIn(row);
    const found = copiesWarning(row, this.#location);
    if (found !== undefined && found.kind !== this.#warned) this.#warn(found);
    this.#warned = found?.kind;
  }
}
