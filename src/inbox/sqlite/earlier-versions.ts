import { createdAtNotKept } from '../delivery-record.ts';
import type { Database } from './libsql.ts';

/** What a version added to the tables that are read. */
interface Added {
  readonly version: number;
  /** Names of columns, and what they have where they are missing. */
  readonly deliveries?: string;
  readonly work?: string;
  /** Statements that make what is missing beside the database. */
  readonly tables?: string;
}

const added: readonly Added[] = [
  {
    version: 2,
    tables: `CREATE TEMP VIEW targets AS SELECT DISTINCT target AS name, target AS label FROM main.work;
      CREATE TEMP TABLE results (seq, number, target, ok, answer, at, duration_ms);
      CREATE TEMP TABLE dropped_repeats (lead, differing, same);`,
  },
  {
    version: 3,
    deliveries: 'NULL AS lead_start, NULL AS lead_end, NULL AS first_seq',
    tables: `CREATE TEMP TABLE shared_content (seq, headers, body);
      CREATE TEMP TABLE receivers (owner, target, seen);`,
  },
  { version: 4, tables: 'CREATE TEMP TABLE erased (digest, seq, first_at, attempts);' },
  { version: 5, work: '0 AS tries, NULL AS since, NULL AS due_at, 0 AS dead' },
  {
    version: 6,
    deliveries: `${createdAtNotKept} AS created_at`,
    tables: `CREATE TEMP TABLE removed (minute, verdict, reason, source, attempt, count);
      CREATE TEMP TABLE counted_since AS SELECT ${Number.MAX_SAFE_INTEGER} AS at;`,
  },
];

/** Lets a database of an earlier version be read as one of this version, without a change to it. */
export function readAsCurrent(database: Database, version: number): void {
  const missing = added.filter((one) => one.version > version);
  for (const { tables } of missing) if (tables !== undefined) database.exec(tables);
  for (const table of ['deliveries', 'work'] as const) {
    const columns = missing.flatMap((one) => one[table] ?? []);
    if (columns.length === 0) continue;
    database.exec(`CREATE TEMP VIEW ${table} AS SELECT *, ${columns.join(', ')} FROM main.${table}`);
  }
}
