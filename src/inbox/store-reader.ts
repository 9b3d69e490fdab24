import type { Clock } from '../time/clock.ts';
import type { Driver } from './driver.ts';
import type { InboxReader } from './inbox.ts';
import { deliveryCounts } from './sql/counts.ts';
import { deliveries, droppedRepeats, leads, receipts } from './sql/deliveries.ts';
import { leadLookup } from './sql/leads.ts';
import { bytesOf, numberOf } from './sql/row.ts';
import { sql } from './sql/statement.ts';
import { forwardsOf, targetCounts, undoneLeads } from './sql/waiting.ts';
import { type StoredName, storedNames } from './target-name.ts';

export interface Opened {
  readonly key: Uint8Array;
  /** When the monotonic clock was at 0, by the clock of the nonces. */
  readonly noncesStart: number;
  readonly storedName: StoredName;
}

export async function openStoreReader(driver: Driver, clock: Pick<Clock, 'steady'>): Promise<InboxReader> {
  return readerOf(driver, await readMeta(driver, clock), []);
}

/** The time since the last note counts up to this, in milliseconds: a receiver that runs notes more often. */
const longestGapMs = 120_000;

/**
 * Nonces expire by a clock that only goes while a receiver runs, since the system's time may be set a day ahead and back again. It
 * is noted beside the time, so that a receiver that starts beside others learns what has passed since their last note.
 */
export async function readMeta(driver: Driver, clock: Pick<Clock, 'steady'>): Promise<Opened> {
  const [row] = await driver.read(sql`SELECT key, nonces_at, noted_at, ${driver.now()} AS now FROM @meta`);
  const gap = numberOf(row?.['now']) - numberOf(row?.['noted_at']);
  const noncesNow = numberOf(row?.['nonces_at']) + Math.min(longestGapMs, Math.max(0, gap));
  const key = bytesOf(row?.['key']);
  return { key, noncesStart: noncesNow - clock.steady(), storedName: storedNames(key) };
}

export function readerOf(
  driver: Driver,
  { key, storedName }: Opened,
  targets: readonly string[],
): InboxReader {
  return {
    location: driver.location,
    ...leadLookup(driver, key),
    list: (query) => deliveries(driver, query),
    receipts: (query) => receipts(driver, query),
    leads: (query) => leads(driver, query),
    counts: (query) => deliveryCounts(driver, query),
    waiting: (target) => undoneLeads(driver, target === undefined ? undefined : storedName(target)),
    targetCounts: () => targetCounts(driver, targets.map(storedName)),
    forwards: (leadIds) => forwardsOf(driver, leadIds),
    droppedRepeats: (leadId) => droppedRepeats(driver, leadId),
    changeMark: () => driver.changeMark(),
    checkReadable: () => driver.checkReadable(),
    close: () => driver.close(),
  };
}
