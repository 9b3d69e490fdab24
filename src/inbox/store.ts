import { bodiesWithIds, eraseLeads, pruneSome } from './sql/removal.ts';
import type { Driver } from './driver.ts';
import type { Inbox, InboxReader } from './inbox.ts';
import { claim, claimLead, giveUp, makeDue, nextDueQuery, recordAttempts } from './sql/forwards.ts';
import { bytesOf, numberOf, optionalNumber } from './sql/row.ts';
import { sql, type Statement, type Work } from './sql/statement.ts';
import { forwardsOf, storeLabels, targetCounts, undoneLeads } from './sql/waiting.ts';
import { type StoreOptions, turnMs } from './store-options.ts';
import { type OpenedStore, WriteQueue } from './write-queue.ts';
import type { Clock } from '../time/clock.ts';
import { deliveries, leads } from './sql/deliveries.ts';
import { leadReader } from './sql/leads.ts';
import { deliveryCounts, receipts, removedCounts } from './sql/receipts.ts';
import { storedNames } from './target-name.ts';

export async function openStoreReader(driver: Driver, clock: Pick<Clock, 'steady'>): Promise<InboxReader> {
  return readerOf(driver, await readMeta(driver, clock), []);
}

const longestGapMs = 120_000;

/**
 * Nonces expire by a clock of their own, which goes only while a receiver runs: the system's time may be set a day ahead and back
 * again. Each transaction stores it (`nonces_at`) beside the system's time (`noted_at`). A receiver that starts continues from there,
 * and adds the time since then, in which other receivers may have run, but no more than two minutes: one that runs writes more often.
 */
async function readMeta(driver: Driver, clock: Pick<Clock, 'steady'>): Promise<OpenedStore> {
  const [row] = await driver.read(sql`SELECT key, nonces_at, noted_at, ${driver.now()} AS now FROM @meta`);
  const sinceNoted = Math.max(0, numberOf(row?.['now']) - numberOf(row?.['noted_at']));
  const noncesNow = numberOf(row?.['nonces_at']) + Math.min(longestGapMs, sinceNoted);
  const key = bytesOf(row?.['key']);
  return { key, noncesStart: noncesNow - clock.steady(), storedName: storedNames(key) };
}

function readerOf(
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

/** Makes the inbox of a database that is open: reads go to the driver at once, and all writes through one queue. */
export async function openStore(driver: Driver, options: Omit<StoreOptions, 'location'>): Promise<Inbox> {
  const { clock, claimMs, targets } = options;
  const opened = await readMeta(driver, clock);
  const { storedName } = opened;
  const newTargets = await driver.write(() => storeLabels(targets, storedName));
  const { dialect } = driver;
  const writes = new WriteQueue(driver, options, opened);
  return {
    ...readerOf(driver, opened, targets),
    newTargets,
    take: (arrivals) => writes.addArrivals(arrivals),
    reject: (rejected) => writes.addRejected(rejected),
    claim: (target, limit, { isWhole = false, isProbe = false } = {}) =>
      writes.add((start) =>
        claim(dialect, { target: storedName(target), limit, isWhole, isProbe, claimMs }, start),
      ),
    claimLeads: (leadIds, target) =>
      writes.add(function* ({ forwardsNow: now }) {
        const storedTarget = target === undefined ? undefined : storedName(target);
        const claims = [];
        for (const leadId of leadIds) claims.push(yield* claimLead(leadId, storedTarget, { now, claimMs }));
        return claims;
      }),
    record: (records) => writes.add(({ forwardsNow }) => recordAttempts(records, storedName, forwardsNow)),
    nextDueIn: async (target) => {
      const [row] = await driver.read(nextDueQuery(dialect, storedName(target), driver.now()));
      return optionalNumber(row?.['due_in']);
    },
    giveUp: (target, afterMs) =>
      writes.add(({ forwardsNow: now }) => giveUp(storedName(target), now - Math.round(afterMs), now)),
    makeDue: (leadIds, dueAt = Infinity) =>
      writes.add(({ forwardsNow: now, clockAhead }) =>
        makeDue(dialect, leadIds, { now, dueAt: dueAt + clockAhead }),
      ),
    async checkWritable() {
      // Without a statement, too, a transaction writes the row of `meta`.
      await writes.add(() => workOf());
      await driver.checkWritable().catch((error: unknown) => {
        throw driver.writeFailure(error).error;
      });
    },
    async prune(before) {
      let dropped = 0;
      for (let lastSeq: number | undefined = 0; lastSeq !== undefined;) {
        const afterSeq: number = lastSeq;
        const step = await writes.add(() => pruneSome(dialect, before, afterSeq));
        dropped += step.dropped;
        lastSeq = step.lastSeq;
        if (lastSeq !== undefined) await options.clock.sleep(turnMs);
      }
      return dropped;
    },
    async erase(erasure) {
      driver.beginErasure();
      // All bodies are read, which takes long, before the transaction, which others wait for.
      const sharedBodies = await bodiesWithIds(driver, erasure.leadIds);
      const counts = await writes.add(() => eraseLeads(dialect, opened.key, erasure, sharedBodies));
      // The mark stays until an overwriting succeeds: it may be of an earlier erasure.
      const [meta] = await driver.read(sql`SELECT overwrite_due FROM @meta`);
      if (numberOf(meta?.['overwrite_due']) === 0) {
        return { ...counts, remains: undefined, outOfReach: driver.outOfReach };
      }
      const overwritten = await driver.overwrite();
      if (overwritten.remains === undefined)
        await writes.add(() => workOf(sql`UPDATE @meta SET overwrite_due = 0`));
      return { ...counts, ...overwritten };
    },
    compact: () => driver.compact(),
    async close() {
      await writes.flush();
      await driver.close();
    },
  };
}

function* workOf(...statements: readonly Statement[]): Work<void> {
  yield statements;
}
