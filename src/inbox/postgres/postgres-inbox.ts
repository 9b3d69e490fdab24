import { slept } from '../../time/clock.ts';
import type { TakenKind } from '../decide-verdict.ts';
import type { Inbox, LeaseAnswer, TargetLease } from '../inbox.ts';
import { heartbeatAgainMs, heartbeatEveryMs, leaseOwner } from '../receiver-liveness.ts';
import type { StoreOptions } from '../store-options.ts';
import { storedNames } from '../target-name.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import { openSchema } from './open-schema.ts';
import { cannotOpen, cannotRead, cannotWrite } from './postgres-errors.ts';
import { postgresReader } from './postgres-reader.ts';
import { backlogOf, dueLeads, outstandingLeads } from './read/outstanding.ts';
import { bytesOfText, hexOf, statements } from './sql.ts';
import {
  NonceClock,
  removeDeadReceivers,
  RunningReceiver,
  type StoreContext,
  storeLabels,
} from './store-context.ts';
import { eraseFromDatabase } from './write/erase.ts';
import { pruneDeliveries } from './write/prune.ts';
import { beginAnew, LeasePlan, type LeaseResult, type LeaseWork, leaseWork } from './write/lease-plan.ts';
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
  const { clock, pid, targets, warn } = options;
  const opened = await openSchema(location, warn);
  const { connections, schema } = opened;
  try {
    return await connections.use(async (connection) => {
      await removeDeadReceivers(connection, schema, { pid, now: clock.now() });
      const storedName = storedNames(opened.targetKey, (digest): Uint8Array => digest);
      const owner = bytesOfText(leaseOwner(pid));
      const receiver = new RunningReceiver(schema, owner, targets.map(storedName));
      const labels = targets.length > 0 ? storeLabels(schema, storedName, targets) : undefined;
      if (labels !== undefined) await connection.run(statements(labels, receiver.seen(clock.now())));
      const nonceClock = await NonceClock.open(connection, schema, clock);
      const wanted = new Map(targets.map((target) => [target, hexOf(storedName(target))]));
      const names = { storedName, wanted, owner };
      const context = { ...opened, ...names, receiver, nonceClock, options };
      return postgresInbox(context);
    });
  } catch (error) {
    await connections.close();
    throw cannotOpen(location.shown, error);
  }
}

/** Rejected deliveries that may wait in memory until they are stored: a flood of them must not fill it. */
const maxRejectedWaiting = 1000;

/** Of a lease, for the size of a batch, in bytes. */
const leaseSize = 2000;

/** An inbox that many receivers share: one id is stored once among all of them. */
function postgresInbox(context: StoreContext & { readonly options: Omit<StoreOptions, 'location'> }): Inbox {
  const { connections, schema, owner, receiver, nonceClock, storedName, options } = context;
  const { clock, onCommit, redact } = options;
  const wanted = [...context.wanted.values()];
  const end = new AbortController();
  const takeQueue = new TransactionQueue({
    connections,
    planOf: (works) => new TakePlan(works, context),
    sizeOf: sizeOfWork,
    clock,
    onCommit,
  });
  // In transactions of their own, beside those that take: what an app has had does not wait for what arrives.
  const leaseQueue = new TransactionQueue<LeaseWork, readonly LeaseResult[]>({
    connections,
    planOf: (works) => new LeasePlan(works, context),
    sizeOf: ({ leases }) => leases.length * leaseSize,
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
  const leased = (kind: LeaseWork['kind'], leases: readonly TargetLease[]): Promise<readonly LeaseResult[]> =>
    written(() => leaseQueue.add(leaseWork(kind, leases, storedName)));
  // By itself: for a week there may be no delivery.
  const heartbeats = (async () => {
    let pauseMs = heartbeatEveryMs;
    while (receiver.handsOn && (await slept(clock, pauseMs, end.signal))) {
      const [note] = await Promise.allSettled([commit(connections, receiver.seen(clock.now()))]);
      // Behind an outage of hours it would count as ended.
      pauseMs = note.status === 'fulfilled' ? heartbeatEveryMs : heartbeatAgainMs;
    }
  })();
  let rejectedWaiting = 0;
  return {
    ...postgresReader(context, { wanted, owner }),
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
    settle: async (leases) => (await leased('done', leases)) as readonly TakenKind[],
    markDoneAtNewAddress: async (leases) =>
      (await leased('done at new address', leases)) as readonly (string | undefined)[],
    async release(leases) {
      await leased('release', leases);
    },
    lease: async (leases) => (await leased('lease', leases)) as readonly LeaseAnswer[],
    due: (target, by, limit, leadIds) => read(() => dueLeads(context, target, { by, limit, leadIds })),
    nextDueAt: async (target) => (await read(() => dueLeads(context, target, { limit: 1 })))[0]?.dueAt,
    beginAnew: (leadIds) => written(() => beginAnew(context, leadIds)),
    async *unsettled(target) {
      try {
        yield* outstandingLeads(context, target === undefined ? undefined : storedName(target));
      } catch (error) {
        throw cannotRead(connections.location, error);
      }
    },
    checkWritable: () => written(() => writeCheck.run()),
    backlog: () => read(() => backlogOf(context, { wanted })),
    pool: () => connections.pool(),
    prune: (before) => written(() => pruneDeliveries(context, before)),
    erase: (erasure) => written(() => eraseFromDatabase(context, erasure)),
    // The database does that by itself (autovacuum), and while others write.
    compact: () => Promise.resolve(undefined),
    async close() {
      end.abort();
      // One that says that this receiver runs ends before it is removed.
      await Promise.all([takeQueue.flush(), leaseQueue.flush(), heartbeats]);
      const last = statements(receiver.removed(), nonceClock.note(schema, true));
      // Where that cannot be written, others find out later that this receiver has ended.
      await Promise.allSettled([commit(connections, last)]);
      await connections.close();
    },
  };
}
