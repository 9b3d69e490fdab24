import type { InboxExtent } from '../../search/inbox-changes.ts';
import { numberOf, textOf } from '../sql/result-row.ts';
import { sql } from '../sql/sql.ts';
import { horizon } from './horizon.ts';
import { askOne, type ReadDatabase } from './read-database.ts';

/** Another text after any transaction that wrote something in this server, or began or ended. */
export async function snapshotMark(database: ReadDatabase): Promise<string> {
  const [row] = await askOne(database, sql`SELECT pg_current_snapshot()::text AS mark`);
  return textOf(row?.['mark']);
}

export async function databaseExtent(database: ReadDatabase): Promise<InboxExtent> {
  const newestSeq = await horizon(database);
  const [row] = await askOne(
    database,
    sql`SELECT (SELECT min(seq) FROM ${database.schema}.deliveries) AS oldest,
      (SELECT count(*) FROM ${database.schema}.erased) AS erased`,
  );
  return { newestSeq, oldestSeq: numberOf(row?.['oldest'] ?? 0), erased: numberOf(row?.['erased']) };
}

export async function outcomeMarks(
  database: ReadDatabase,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await askOne(
    database,
    sql`SELECT seq, verdict, md5(results) AS results FROM ${database.schema}.deliveries
      WHERE seq = ANY(${seqs}::int8[])`,
  );
  return new Map(
    rows.map((row) => [numberOf(row['seq']), `${textOf(row['verdict'])} ${textOf(row['results'])}`]),
  );
}
