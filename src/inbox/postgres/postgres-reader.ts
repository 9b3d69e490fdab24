import { storeReader, type StoreReader } from '../store-reader.ts';
import { cannotRead } from './postgres-errors.ts';
import { deliveryCounts } from './read/delivery-counts.ts';
import { deliveries, receipts } from './read/delivery-queries.ts';
import { leadLookup, leads, leadsBySeq } from './read/lead-queries.ts';
import { askOne, type OpenedSchema } from './read/read-database.ts';
import { forwardsOf, targetCounts } from './read/waiting-leads.ts';
import { bytesOfText, numberOf, sql, textOf } from './sql.ts';

/**
 * Reads what `Inbox` names, and writes nothing. What the database throws becomes an error that says what can be done.
 * `own`: stored names in hex of the receiver's targets.
 */
export function postgresReader(database: OpenedSchema, own: readonly string[] = []): StoreReader {
  const { connections, schema } = database;
  const { location } = connections;
  return storeReader(
    location,
    {
      ...leadLookup(database),
      list: (query) => deliveries(database, query),
      receipts: (query) => receipts(database, query),
      counts: (query) => deliveryCounts(database, query),
      leads: (query) => leads(database, query),
      leadsBySeq: (seqs) => leadsBySeq(database, seqs),
      changeMark: () => snapshotMark(database),
      async checkReadable() {
        await askOne(database, sql`SELECT max(seq) FROM ${schema}.deliveries`);
      },
      targetCounts: () => targetCounts(database, own),
      forwards: (leadIds) => forwardsOf(database, leadIds),
      async droppedRepeats(leadId) {
        const [row] = await askOne(
          database,
          sql`SELECT differing, same FROM ${schema}.dropped_repeats WHERE lead = ${bytesOfText(leadId)}`,
        );
        return { differing: numberOf(row?.['differing'] ?? 0), same: numberOf(row?.['same'] ?? 0) };
      },
      close: () => connections.close(),
    },
    (cause) => cannotRead(location, cause),
  );
}

/** Another text after any transaction that wrote something in this server, or began or ended. */
async function snapshotMark(database: OpenedSchema): Promise<string> {
  const [row] = await askOne(database, sql`SELECT pg_current_snapshot()::text AS mark`);
  return textOf(row?.['mark']);
}
