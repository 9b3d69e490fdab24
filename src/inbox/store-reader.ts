import type { Clock } from '../time/clock.ts';
import type { Driver } from './driver.ts';
import type { DroppedRepeats, InboxReader, StoredLeadQuery } from './inbox.ts';
import type { CountQuery, InboxQuery, ReceiptQuery } from './query-types.ts';
import { deliveryCounts } from './sql/counts.ts';
import { deliveries, leads, receipts } from './sql/deliveries.ts';
import { forwardsIn, forwardsQuery, targetCountsIn, targetCountsQuery } from './sql/forwards.ts';
import { leadLookup } from './sql/leads.ts';
import { bytesOf, numberOf, sql, toColumn } from './sql/statement.ts';

/** What was read of the inbox when it was opened. */
export interface Opened {
  readonly key: Uint8Array;
  /** When the monotonic clock was at 0, by the clock of the nonces. */
  readonly noncesStart: number;
}

/** Opens the inbox of a database that has its tables, for reading only. */
export async function openStoreReader(driver: Driver, clock: Pick<Clock, 'steady'>): Promise<InboxReader> {
  const { key } = await readMeta(driver, clock);
  return readerOf(driver, key, []);
}

/** What may have passed since the clock of the nonces was noted while a receiver runs, in milliseconds. */
const longestGapMs = 120_000;

/**
 * Nonces expire by a clock that only goes while a receiver runs, since the system's time may be set a day ahead and back again. It
 * is noted beside the time, so that a receiver that starts beside others learns what has passed since their last note.
 */
export async function readMeta(driver: Driver, clock: Pick<Clock, 'steady'>): Promise<Opened> {
  const [row] = await driver.read(
    sql`SELECT key, nonces_at, nonces_noted, ${driver.now()} AS now FROM @meta`,
  );
  const gap = numberOf(row?.['now']) - numberOf(row?.['nonces_noted']);
  const noncesNow = numberOf(row?.['nonces_at']) + Math.min(longestGapMs, Math.max(0, gap));
  return { key: bytesOf(row?.['key']), noncesStart: noncesNow - clock.steady() };
}

/** `own`: stored names of the receiver's targets. */
export function readerOf(driver: Driver, key: Uint8Array, own: readonly string[]): InboxReader {
  const { dialect, location } = driver;
  const lookup = leadLookup(driver, key);
  const answered =
    <A extends unknown[], T>(query: (...asked: A) => Promise<T>) =>
    async (...asked: A): Promise<T> => {
      try {
        return await query(...asked);
      } catch (error) {
        throw driver.readError(error);
      }
    };
  const listed = <A extends unknown[], T>(query: (...asked: A) => AsyncIterable<T>) =>
    async function* (...asked: A): AsyncGenerator<T> {
      try {
        yield* query(...asked);
      } catch (error) {
        throw driver.readError(error);
      }
    };
  return {
    location,
    list: listed((query: InboxQuery) => deliveries(driver, query)),
    receipts: listed((query: ReceiptQuery) => receipts(driver, query)),
    leads: listed((query: StoredLeadQuery) => leads(driver, query)),
    counts: listed((query: CountQuery) => deliveryCounts(driver, query)),
    has: answered((leadIds: readonly string[]) => lookup.has(leadIds)),
    lookUp: answered((leadIds: readonly string[]) => lookup.lookUp(leadIds)),
    leadsBySeq: answered((seqs: readonly number[]) => lookup.leadsBySeq(seqs)),
    seqsSince: listed((since: number) => lookup.seqsSince(since)),
    backfilledSeqs: listed((from: number) => lookup.backfilledSeqs(from)),
    prunedSince: listed((since: number) => lookup.prunedSince(since)),
    changeMark: answered(() => driver.changeMark()),
    checkReadable: answered(() => driver.checkReadable()),
    targetCounts: answered(async () => targetCountsIn(await driver.read(targetCountsQuery), own)),
    forwards: answered(async (leadIds: readonly string[]) =>
      forwardsIn(await driver.read(forwardsQuery(dialect, leadIds, driver.now()))),
    ),
    droppedRepeats: answered(async (leadId: string): Promise<DroppedRepeats> => {
      const [row] = await driver.read(
        sql`SELECT differing, same FROM @dropped_repeats WHERE lead = ${toColumn(leadId)}`,
      );
      return { differing: numberOf(row?.['differing']), same: numberOf(row?.['same']) };
    }),
    close: answered(() => driver.close()),
  };
}
