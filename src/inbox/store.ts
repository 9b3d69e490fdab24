import { bodiesWithIds, eraseLeads, pruneSome } from './sql/removal.ts';
import type { Driver } from './driver.ts';
import type { Inbox } from './inbox.ts';
import { claim, claimLead, giveUp, makeDue, nextDueQuery, recordAttempts } from './sql/forwards.ts';
import { numberOf, optionalNumber } from './sql/row.ts';
import { sql, type Statement, type Work } from './sql/statement.ts';
import { storeLabels } from './sql/waiting.ts';
import type { StoreOptions } from './store-options.ts';
import { readerOf, readMeta } from './store-reader.ts';
import { WriteQueue } from './write-queue.ts';

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
