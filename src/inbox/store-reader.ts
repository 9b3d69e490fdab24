import type { Clock } from '../time/clock.ts';
import type { Driver } from './driver.ts';
import type { InboxReader } from './inbox.ts';
import { deliveries, leads } from './sql/deliveries.ts';
import { leadReader } from './sql/leads.ts';
import { deliveryCounts, receipts, removedCounts } from './sql/receipts.ts';
import { bytesOf, numberOf } from './sql/row.ts';
import { sql } from './sql/statement.ts';
import { forwardsOf, targetCounts, undoneLeads } from './sql/waiting.ts';
import { type StoredName, storedNames } from './target-name.ts';

/**
 * The values that are read from `meta` when the store is opened. Under the secret `key` ids of erased leads and names of targets are digested.
 * `noncesStart` plus the reading of the monotonic clock, in milliseconds, is the time of the nonces.
 */
export interface OpenedStore {
  readonly key: Uint8Array;
  readonly storedName: StoredName;
  readonly noncesStart: number;
}

export async function openStoreReader(driver: Driver, clock: Pick<Clock, 'steady'>): Promise<InboxReader> {
  return readerOf(driver, await readMeta(driver, clock), []);
}

const longestGapMs = 120_000;

/**
 * Nonces expire by a clock of their own, which goes only while a receiver runs: the system's time may be set a day ahead and back
 * again. Each transaction stores it (`nonces_at`) beside the system's time (`noted_at`). A receiver that starts continues from there,
 * and adds the time since then, in which other receivers may have run, but no more than two minutes: one that runs writes more often.
 */
export async function readMeta(driver: Driver, clock: Pick<Clock, 'steady'>): Promise<OpenedStore> {
  const [row] = await driver.read(sql`SELECT key, nonces_at, noted_at, ${driver.now()} AS now FROM @meta`);
  const sinceNoted = Math.max(0, numberOf(row?.['now']) - numberOf(row?.['noted_at']));
  const noncesNow = numberOf(row?.['nonces_at']) + Math.min(longestGapMs, sinceNoted);
  const key = bytesOf(row?.['key']);
  return { key, noncesStart: noncesNow - clock.steady(), storedName: storedNames(key) };
}

export function readerOf(
  driver: Driver,
  { key, storedName }: OpenedStore,
  ownTargets: readonly string[],
): InboxReader {
  return {
    location: driver.location,
    ...leadReader(driver, key),
    list: (query) => deliveries(driver, query),
    receipts: (query) => receipts(driver, query),
    leads: (query) => leads(driver, query),
    counts: (query) => deliveryCounts(driver, query),
    removedCounts: (query) => removedCounts(driver, query),
    waiting: (target) => undoneLeads(driver, target === undefined ? undefined : storedName(target)),
    targetCounts: () => targetCounts(driver, ownTargets.map(storedName)),
    forwards: (leadIds) => forwardsOf(driver, leadIds),
    changeMark: () => driver.changeMark(),
    close: () => driver.close(),
  };
}
