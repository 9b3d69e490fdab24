import type { AttemptRecord, Inbox } from '../inbox.ts';
import type { StoreOptions } from '../store-options.ts';
import { storedNames } from '../target-name.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import { openSchema } from './open-schema.ts';
import { cannotOpen, cannotRead, cannotWrite } from './postgres-errors.ts';
import { postgresReader } from './postgres-reader.ts';
import { storedText } from './read/read-database.ts';
import { backlogOf, nextDueIn, waitingLeads } from './read/waiting-leads.ts';
import { hexOf, statements } from './sql.ts';
import { NonceClock, type StoreContext, storeLabels } from './store-context.ts';
import { eraseFromDatabase } from './write/erase.ts';
import { claim, claimLeads, giveUp, makeDue } from './write/forward-claims.ts';
import { pruneDeliveries } from './write/prune.ts';
import { RecordPlan } from './write/record-plan.ts';
import { TakePlan } from './write/take-plan.ts';
import { rejectWork, sizeOfWork, takeWork } from './write/take-queries.ts';
import { TransactionQueue } from './write/transaction-queue.ts';
import { commit } from './write/transaction.ts';
import { WriteCheck } from './write/write-check.ts';

/** Throws a `ConfigError`, or that the database cannot be reached. */
export async function openPostgresInbox(
  location: DatabaseLocation,
  options: Omit<StoreOptions, 'location'>,
): Promise<Inbox> {
  const { clock, targets, warn } = options;
  const opened = await openSchema(location, warn);
  const { connections, schema } = opened;
  try {
    return await connections.use(async (connection) => {
      const storedName = storedNames(opened.targetKey, (digest): Uint8Array => digest);
      const [added = []] =
        targets.length > 0 ? await connection.run(storeLabels(schema, storedName, targets)) : [];
      const newTargets = added.filter((row) => row['has_leads'] === true).map(({ label }) => storedText(label));
      const nonceClock = await NonceClock.open(connection, schema, clock);
      const context = { ...opened, storedName, nonceClock, options };
      return { ...postgresInbox(context), newTargets };
    });
  } catch (error) {
    await connections.close();
    throw cannotOpen(location.shown, error);
  }
}

/** Rejected deliveries that may wait in memory until they are stored: a flood of them must not fill it. */
const maxRejectedWaiting = 1000;

/** Of a record, for the size of a batch, in bytes. */
const recordSize = 2000;

/** An inbox that many receivers share: one id is stored once among all of them. */
function postgresInbox(
  context: StoreContext & { readonly options: Omit<StoreOptions, 'location'> },
): Omit<Inbox, 'newTargets'> {
  const { connections, schema, nonceClock, storedName, options } = context;
  const { clock, onCommit, redact } = options;
  const own = options.targets.map((target) => hexOf(storedName(target)));
  const takeQueue = new TransactionQueue({
    connections,
    planOf: (works) => new TakePlan(works, context),
    sizeOf: sizeOfWork,
    clock,
    onCommit,
  });
  // In transactions of their own, beside those that take: what an app has had does not wait for what arrives.
  const recordQueue = new TransactionQueue<readonly AttemptRecord[], undefined>({
    connections,
    planOf: (works) => new RecordPlan(works, context),
    sizeOf: (records) => records.length * recordSize,
    clock,
    onCommit,
  });
  const writeCheck = new WriteCheck(connections, schema);
  const written = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      writeCheck.failed(error);
      throw cannotWrite(connections.location, error);
    }
  };
  const read = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw cannotRead(connections.location, error);
    }
  };
  let rejectedWaiting = 0;
  return {
    ...postgresReader(context, own),
    take: (arrivals) => written(() => takeQueue.add(takeWork(arrivals, redact))),
    async reject(rejected) {
      // Of a flood only the newest would stay anyway; losing some of it harms nobody. Another event is answered as stored.
      const isFlood = rejected.every(({ rejection }) => rejection.kind === 'rejected');
      if (isFlood && rejectedWaiting >= maxRejectedWaiting) return;
      rejectedWaiting += rejected.length;
      try {
        await written(async () => takeQueue.add(rejectWork(rejected, redact)));
      } finally {
        rejectedWaiting -= rejected.length;
      }
    },
    claim: (target, most, withinMs = 0) => written(() => claim(context, target, most, withinMs)),
    claimLeads: (leadIds, target) => written(() => claimLeads(context, leadIds, target)),
    record: (records) => written(() => recordQueue.add(records)),
    nextDueIn: (target) => read(() => nextDueIn(context, target)),
    giveUp: (target, afterMs) => written(() => giveUp(context, target, afterMs)),
    makeDue: (leadIds) => written(() => makeDue(context, leadIds)),
    async *waiting(target) {
      try {
        yield* waitingLeads(context, target === undefined ? undefined : storedName(target));
      } catch (error) {
        throw cannotRead(connections.location, error);
      }
    },
    checkWritable: () => written(() => writeCheck.run()),
    backlog: () => read(() => backlogOf(context, own)),
    pool: () => connections.pool(),
    prune: (before) => written(() => pruneDeliveries(context, before)),
    erase: (erasure) => written(() => eraseFromDatabase(context, erasure)),
    // The database does that by itself (autovacuum), and while others write.
    compact: () => Promise.resolve(undefined),
    async close() {
      await Promise.all([takeQueue.flush(), recordQueue.flush()]);
      // Where that cannot be written, nonces are kept a little longer.
      await Promise.allSettled([commit(connections, statements(nonceClock.note(schema, true)))]);
      await connections.close();
    },
  };
}
