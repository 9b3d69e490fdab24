import type { TakenKind } from '../decide-verdict.ts';
import type {
  Arrival,
  Backlog,
  ConnectionPool,
  Erased,
  Erasure,
  Inbox,
  LeaseState,
  RejectedDelivery,
  StoredRef,
  TakeResult,
  TargetLease,
} from '../inbox.ts';
import type { StoreOptions } from '../store-options.ts';
import type { Connections } from './connection/database-connections.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import { MonthsAhead } from './migrate.ts';
import { type OpenedSchema, openSchema } from './open-schema.ts';
import { cannotOpen, cannotWrite, sqlState } from './postgres-errors.ts';
import { PostgresReader } from './postgres-reader.ts';
import { backlogOf, unsettledLeads } from './read/outstanding.ts';
import { hexOf, type Sql, sql, statements } from './sql.ts';
import {
  LeaseClock,
  leaseOwner,
  NonceClock,
  removeDeadReceivers,
  RunningReceiver,
  type StoreContext,
  storeLabels,
  TargetNames,
} from './store-context.ts';
import { Confirmations } from './write/confirmations.ts';
import { eraseFromDatabase } from './write/erase.ts';
import { pruneDeliveries } from './write/prune.ts';
import { SettlePlan, type SettleResult, type SettleWork, settleWork } from './write/settle-plan.ts';
import { TakePlan, type TakeResults } from './write/take-plan.ts';
import { rejectWork, sizeOfWork, type TakeWork, takeWork } from './write/take-questions.ts';
import { Lane } from './write/transaction-queue.ts';
import { begin } from './write/transaction.ts';

/** Throws a `ConfigError`, or that the database cannot be reached. */
export async function openPostgresInbox(
  location: DatabaseLocation,
  options: Omit<StoreOptions, 'location'>,
): Promise<Inbox> {
  const { clock, pid, targets, onDemand = [], warn } = options;
  const opened = await openSchema(location, { now: clock.now(), warn });
  const { connections, schema } = opened;
  try {
    return await connections.use(async (connection) => {
      const months = new MonthsAhead({ schema, clock, warn });
      await months.add(connection);
      await removeDeadReceivers(connection, schema, { pid, now: clock.now() });
      const names = new TargetNames(opened.targetKey);
      const owner = await leaseOwner(pid);
      const receiver = new RunningReceiver(schema, owner, clock.now());
      const stored = targets.map((target) => names.storedName(target));
      const labelled = [...targets, ...onDemand];
      const labels = labelled.length > 0 ? storeLabels(schema, names, labelled) : undefined;
      const added = stored.length > 0 ? receiver.added(stored) : undefined;
      if (labels !== undefined) await connection.run(statements(labels, added));
      const nonceClock = await NonceClock.open(connection, schema, clock);
      const leaseClock = await LeaseClock.open(connection, clock);
      const context = { ...opened, names, owner, receiver, nonceClock, leaseClock, options };
      return new PostgresInbox(opened, context, months);
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
class PostgresInbox extends PostgresReader implements Inbox {
  readonly #opened: OpenedSchema;
  readonly #context: StoreContext;
  readonly #redact: StoreOptions['redact'];
  readonly #lanes: readonly Confirmations[];
  readonly #takes: Lane<TakeWork, TakeResults>;
  /** In transactions of their own, beside those that take: what an app has had does not wait for what arrives. */
  readonly #settlements: Lane<SettleWork, readonly SettleResult[]>;
  readonly #writeCheck: WriteCheck;
  readonly #months: MonthsAhead;
  #rejectedWaiting = 0;

  constructor(
    opened: OpenedSchema,
    context: StoreContext & { readonly options: Omit<StoreOptions, 'location'> },
    months: MonthsAhead,
  ) {
    const { connections, schema } = opened;
    const { clock, onCommit, redact } = context.options;
    const wanted = context.options.targets.map((target) => hexOf(context.names.storedName(target)));
    super(opened, { wanted, owner: context.owner });
    this.#opened = opened;
    this.#context = context;
    this.#redact = redact;
    const lanes = new Set<string>();
    const confirmations = new Confirmations(schema, lanes);
    this.#takes = new Lane({
      connections,
      confirmations,
      planOf: (works) => new TakePlan(works, context, confirmations),
      sizeOf: sizeOfWork,
      clock,
      onCommit,
    });
    const settled = new Confirmations(schema, lanes);
    this.#settlements = new Lane({
      connections,
      confirmations: settled,
      planOf: (works) => new SettlePlan(works, context, settled),
      sizeOf: ({ leases }) => leases.length * leaseSize,
      clock,
      onCommit,
    });
    this.#lanes = [confirmations, settled];
    this.#writeCheck = new WriteCheck(connections, schema);
    this.#months = months;
  }

  async take(arrivals: readonly Arrival[]): Promise<readonly TakeResult[]> {
    this.#months.check(this.#opened.connections);
    return this.#written(async () => this.#takes.add(takeWork(arrivals, this.#redact)));
  }

  async reject(rejected: readonly RejectedDelivery[]): Promise<void> {
    // Of a flood only the newest would stay anyway; losing some of it harms nobody.
    if (this.#rejectedWaiting >= maxRejectedWaiting) return;
    this.#rejectedWaiting += rejected.length;
    try {
      await this.#written(async () => this.#takes.add(rejectWork(rejected, this.#redact)));
    } finally {
      this.#rejectedWaiting -= rejected.length;
    }
  }

  async settle(leases: readonly TargetLease[]): Promise<readonly TakenKind[]> {
    return (await this.#settled('settle', leases)) as readonly TakenKind[];
  }

  async settleMoved(leases: readonly TargetLease[]): Promise<readonly (string | undefined)[]> {
    return this.#settled('settle moved', leases);
  }

  async release(leases: readonly TargetLease[]): Promise<void> {
    await this.#settled('release', leases);
  }

  async lease(leases: readonly TargetLease[]): Promise<readonly LeaseState[]> {
    return (await this.#settled('lease', leases)) as readonly LeaseState[];
  }

  unsettled(target: string): AsyncIterable<StoredRef> {
    return unsettledLeads(this.#opened, this.#context.names.storedName(target));
  }

  checkWritable(): Promise<void> {
    return this.#written(() => this.#writeCheck.run());
  }

  backlog(): Promise<readonly Backlog[]> {
    const wanted = this.#context.options.targets.map((target) =>
      hexOf(this.#context.names.storedName(target)),
    );
    return backlogOf(this.#opened, { wanted });
  }

  pool(): ConnectionPool {
    return this.#opened.connections.pool();
  }

  prune(before: number): Promise<number> {
    return this.#written(() => pruneDeliveries({ ...this.#opened, before }));
  }

  erase(erasure: Erasure): Promise<Erased> {
    return this.#written(() => eraseFromDatabase(this.#opened, erasure));
  }

  /** The database does that by itself (autovacuum), and while others write. */
  compact(): Promise<void> {
    return Promise.resolve();
  }

  override async close(): Promise<void> {
    await Promise.all([this.#takes.flush(), this.#settlements.flush()]);
    const { connections } = this.#opened;
    const { receiver, nonceClock, schema } = this.#context;
    const last = statements(
      ...this.#lanes.map((lane) => lane.removal),
      receiver.removed(),
      nonceClock.note(schema, true),
    );
    // Where that cannot be written, others find out later that this receiver has ended.
    await Promise.allSettled([connections.use((connection) => connection.run(last))]);
    await connections.close();
  }

  #settled(kind: SettleWork['kind'], leases: readonly TargetLease[]): Promise<readonly SettleResult[]> {
    return this.#written(() => this.#settlements.add(settleWork(kind, leases, this.#context.names)));
  }

  async #written<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#writeCheck.failed(error);
      throw cannotWrite(this.location, error);
    }
  }
}

/** What the largest delivery needs, in bytes: a body may have 1 MiB. */
const roomBytes = 1.5 * 1024 * 1024;

/** Finds out whether the next delivery can be made durable. */
class WriteCheck {
  readonly #connections: Connections;
  readonly #schema: Sql;
  #isFull = false;

  constructor(connections: Connections, schema: Sql) {
    this.#connections = connections;
    this.#schema = schema;
  }

  /** A write failed with what the database threw. */
  failed(error: unknown): void {
    if (sqlState(error) === '53100') this.#isFull = true;
  }

  /**
   * Commits a small write. A few bytes always fit somewhere, so that once a disk was full, as much as a delivery may have
   * is written as well.
   */
  async run(): Promise<void> {
    const filler = this.#isFull ? sql`decode(repeat('00', ${roomBytes}), 'hex')` : sql`NULL`;
    await this.#connections.use(async (connection) => {
      await connection.run(
        sql`${begin} UPDATE ${this.#schema}.write_checks SET number = number + 1, filler = ${filler}; COMMIT;`,
      );
      this.#isFull = false;
    });
  }
}
