import { hash } from 'node:crypto';
import { GroupCommit } from '../../files/group-commit.ts';
import type { Clock } from '../../time/clock.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import {
  ComparisonBudget,
  decideVerdict,
  type KnownLead,
  replayedNonce,
  type TakenKind,
  type TakenVerdict,
  verdictOnceDone,
} from '../decide-verdict.ts';
import {
  contentOf,
  type DeliveryContent,
  type Group,
  groupByDelivery,
  rejectedContentOf,
  summaryOf,
} from '../delivery-record.ts';
import { splitErased } from '../erase/remaining-delivery.ts';
import {
  type Arrival,
  CannotStoreError,
  type LeaseAnswer,
  type RejectedDelivery,
  type TakeResult,
  type TargetLease,
} from '../inbox.ts';
import { leadBytes } from '../lead-bytes.ts';
import type { StoreOptions } from '../store-options.ts';
import type { StoredName } from '../target-name.ts';
import {
  acceptLead,
  addResult,
  concludeDelivery,
  countAttempt,
  findLead,
  insertDelivery,
  insertLead,
  leadOfDelivery,
  NonceTable,
  SharedContentTable,
  trimRejected,
  trimRepeats,
} from './delivery-tables.ts';
import { ErasedTable } from './erased-leads.ts';
import { type Database, Statements, toColumn } from './libsql.ts';
import { sqliteCode } from './sqlite-errors.ts';
import { RunningReceiver, TargetLeases } from './target-tables.ts';

/** What a receiver reads once from the database it opened. */
export interface OpenedStore {
  /** The name on this receiver's leases. */
  readonly owner: string;
  readonly storedName: StoredName<string>;
  readonly nonceClockStart: number;
}

/** Writes what `Inbox` names. Every method runs inside a transaction that the caller opened, from `begin` to `end`. */
export class SqliteWriter {
  readonly leases: TargetLeases;
  readonly erased: ErasedTable;
  readonly receiver: RunningReceiver;
  readonly #options: Pick<StoreOptions, 'targets' | 'redact' | 'clock'>;
  readonly #sql: Statements;
  readonly #shared: SharedContentTable;
  readonly #nonces: NonceTable;
  readonly #storedName: StoredName<string>;
  readonly #comparison = new ComparisonBudget();
  #now = 0;
  #seq = 0;
  #noncesSeen = 0;
  readonly #untaken = new Set<RejectedDelivery['rejection']['kind']>();

  constructor(database: Database, options: StoreOptions, opened: OpenedStore) {
    const { targets: wanted, leaseMs, nonceLifetimeMs } = options;
    const { owner, storedName, nonceClockStart } = opened;
    const sql = new Statements(database);
    this.#options = options;
    this.#sql = sql;
    this.#storedName = storedName;
    this.receiver = new RunningReceiver(sql, owner);
    this.leases = new TargetLeases(sql, { wanted, owner, leaseMs, storedName });
    this.erased = new ErasedTable(database);
    this.#shared = new SharedContentTable(sql);
    this.#nonces = new NonceTable(sql, nonceLifetimeMs, nonceClockStart);
  }

  /** The number of the newest delivery. */
  get seq(): number {
    return this.#seq;
  }

  /** Numbers are read from the database, since another receiver may have added some. */
  begin(now: number): void {
    this.#now = now;
    this.#seq = Number(this.#sql.get('SELECT seq FROM counter')?.['seq'] ?? 0);
    this.#noncesSeen = 0;
    this.#untaken.clear();
    this.#comparison.reset();
    this.#shared.forget();
    this.erased.refresh();
    this.receiver.renew(now);
  }

  end(): void {
    if (this.#noncesSeen > 0) this.#nonces.removeExpired(this.#options.clock.steady(), this.#noncesSeen);
    for (const kind of this.#untaken) trimRejected(this.#sql, kind);
    this.#sql.run('UPDATE counter SET seq = ?', this.#seq);
  }

  take(arrivals: readonly Arrival[]): TakeResult[] {
    return groupByDelivery(arrivals).flatMap((group) => this.#takeDelivery(group));
  }

  reject({ delivery, rejection, leadId }: RejectedDelivery): void {
    if (this.erased.isIn({ delivery, leadId })) return;
    this.#addRejected({ delivery, leadId }, rejection);
  }

  settle({ leadId, seq, target, result }: TargetLease): TakenKind {
    // Erased while a target was handed the lead.
    if (this.erased.find(leadId) !== undefined) return 'duplicate';
    const id = toColumn(leadId);
    this.#addResult(seq, target, result);
    const undone = this.leases.settle(id, target);
    const accepted = undone.length === 0 && !acceptLead(this.#sql, id);
    const verdict = verdictOnceDone(undone, { accepted });
    if (verdict !== 'pending') concludeDelivery(this.#sql, seq, verdict);
    return verdict;
  }

  markDoneAtNewAddress({ leadId, seq, target, result }: TargetLease): string | undefined {
    if (this.erased.find(leadId) !== undefined) return undefined;
    this.#addResult(seq, target, result);
    const moved = this.leases.markDoneAtNewAddress(toColumn(leadId), target, this.#now);
    if (moved !== undefined) this.settle({ leadId, seq, target });
    return moved;
  }

  release(lease: TargetLease): void {
    const { leadId, seq, target, result } = lease;
    if (this.erased.find(leadId) !== undefined) return;
    this.#addResult(seq, target, result);
    this.leases.release(toColumn(leadId), lease);
  }

  lease({ leadId, target }: TargetLease): LeaseAnswer {
    return this.leases.lease(toColumn(leadId), target, this.#now);
  }

  beginAnew(leadId: string): void {
    this.leases.beginAnew(toColumn(leadId), this.#now);
  }

  #addResult(seq: number, target: string, result: TargetLease['result']): void {
    if (result !== undefined) addResult(this.#sql, seq, this.#storedName(target), result);
  }

  #takeDelivery(group: Group): TakeResult[] {
    const [first] = group;
    const { delivery, nonce, place } = first;
    const split = splitErased(group, (leadId) => this.erased.find(leadId));
    // A body that is the lead is hashed once for both.
    const digest = nonce === undefined && place !== undefined ? undefined : digestOf(delivery.body);
    if (nonce !== undefined && digest !== undefined && !this.#bindNonce(nonce, digest)) {
      const rejected = replayedNonce();
      if (split === undefined) this.#addRejected(first, rejected);
      return group.map(() => rejected);
    }
    if (split !== undefined) return split.results(this.#takeLeads(split.rest, undefined));
    return this.#takeLeads(group, place === undefined ? digest : undefined);
  }

  /** Of one delivery. `bodyDigest`: where it is the lead's as well. */
  #takeLeads(group: readonly Arrival[], bodyDigest: Uint8Array | undefined): TakeResult[] {
    const [first] = group;
    if (first === undefined) return [];
    const content = contentOf(first.delivery, this.#options.redact);
    if (group.length === 1) return [this.#takeLead(first, content, bodyDigest)];
    const firstSeq = this.#seq + 1;
    this.#shared.insert(firstSeq, content);
    return group.map((arrival) => this.#takeLead(arrival, content, undefined, firstSeq));
  }

  /** `bodyDigest`: where it is the lead's as well. */
  #takeLead(
    arrival: Arrival,
    content: DeliveryContent,
    bodyDigest: Uint8Array | undefined,
    firstSeq?: number,
  ): TakeResult {
    const { targets } = this.#options;
    const { delivery, leadId, place } = arrival;
    const id = toColumn(leadId);
    const payload = leadBytes(delivery.body, place);
    const digest = bodyDigest ?? digestOf(payload);
    // Most leads are new, which the insert alone shows: only when it inserts nothing is anything looked up.
    const asNew = decideVerdict(undefined, arrival, targets);
    const isNew = this.#addLead(id, delivery, digest, asNew);
    const verdict = isNew ? asNew : decideVerdict(this.#knownLead(id, payload, digest), arrival, targets);
    const seq = (this.#seq += 1);
    insertDelivery(this.#sql, seq, summaryOf(arrival, verdict, content.path, firstSeq), content);
    if (!isNew) {
      countAttempt(this.#sql, id);
      trimRepeats(this.#sql, id, verdict.attempt, verdict.differs !== undefined);
    }
    if (!isNew && verdict.kind === 'accepted') acceptLead(this.#sql, id);
    if (verdict.kind === 'pending') {
      for (const { name } of verdict.targets) this.leases.grant(id, name, this.#now);
    }
    return { seq, ...verdict };
  }

  /** False when the nonce is bound to another body. */
  #bindNonce(nonce: string, digest: Uint8Array): boolean {
    this.#noncesSeen += 1;
    return this.#nonces.bind(nonce, digest, this.#options.clock.steady());
  }

  /** Under the number that its delivery gets next. False when the id is known already. */
  #addLead(id: string, { receivedAt }: Delivery, digest: Uint8Array, { kind }: TakenVerdict): boolean {
    const accepted = kind === 'accepted';
    return insertLead(this.#sql, id, { seq: this.#seq + 1, accepted, firstAt: receivedAt, digest });
  }

  #knownLead(id: string, payload: Uint8Array, digest: Uint8Array): KnownLead {
    const row = findLead(this.#sql, id);
    if (row === undefined) throw new Error('a lead id is both known and unknown');
    const isSame = Buffer.compare(row.digest, digest) === 0;
    return {
      firstAt: row.firstAt,
      attempts: row.attempts,
      accepted: row.accepted,
      firstBody: isSame
        ? 'same'
        : this.#comparison.spend(leadOfDelivery(this.#sql, row.seq, this.#shared), payload),
      ...this.leases.stateOf(id, this.#now),
    };
  }

  #addRejected(rejected: Parameters<typeof summaryOf>[0], rejection: RejectedDelivery['rejection']): void {
    const content = rejectedContentOf(rejected.delivery, this.#options.redact);
    this.#untaken.add(rejection.kind);
    this.#seq += 1;
    insertDelivery(this.#sql, this.#seq, summaryOf(rejected, rejection, content.path), content);
  }
}

const digestOf = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

/** How long a step waits for another process's transaction, in milliseconds. */
const lockWaitMs = 5000;

/** Between two attempts to begin a transaction, in milliseconds. */
const lockPollMs = 20;

/** These hold for the whole database: a smaller transaction would fail with the same. */
const wholeDatabaseCodes = /^SQLITE_(FULL|READONLY|NOTADB|CANTOPEN|PROTOCOL)/;

interface Step<Writer> {
  readonly run: (writer: Writer) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** When it gives up waiting for a lock, by the steady clock. */
  readonly deadline: number;
}

interface BatchCommitOptions<Writer> {
  readonly database: Database;
  /** Called again after a transaction that failed, since its statements may not work any more. */
  readonly createWriter: () => Writer;
  readonly clock: Clock;
  /** Asked before and after each transaction: throws a `CannotStoreError` when the file is not in place any more. */
  readonly verify: () => void;
  /** Told after each transaction how many steps shared it. */
  readonly onCommit?: ((steps: number) => void) | undefined;
}

/**
 * Transactions of many steps, so that they share one sync. A batch that fails is taken apart until only those steps fail
 * that cannot be stored. Nothing here blocks the event loop while another process writes.
 */
export class BatchCommit<Writer extends { begin(now: number): void; end(): void }> {
  readonly #options: BatchCommitOptions<Writer>;
  #writer: Writer | undefined;
  readonly #group = new GroupCommit<Step<Writer>, void>(async (steps) => {
    await this.#commit(steps);
    return [];
  });

  constructor(options: BatchCommitOptions<Writer>) {
    this.#options = options;
  }

  /** Resolves with what `run` returned once it is durable; rejects with what it, or its transaction, failed with. */
  add<T>(run: (writer: Writer) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = this.#options.clock.steady() + lockWaitMs;
      void this.#group.add({ run, resolve: resolve as Step<Writer>['resolve'], reject, deadline });
    });
  }

  flush(): Promise<void> {
    return this.#group.flush();
  }

  /** Settles every step, and never rejects. */
  async #commit(steps: readonly Step<Writer>[]): Promise<void> {
    const locked = await this.#begin(steps);
    if (locked.length === 0) return;
    const failure = this.#transact(locked);
    if (failure === undefined) return;
    if (locked.length === 1 || isOfWholeDatabase(failure.error)) {
      for (const { reject } of locked) reject(failure.error);
      return;
    }
    const middle = Math.ceil(locked.length / 2);
    await this.#commit(locked.slice(0, middle));
    await this.#commit(locked.slice(middle));
  }

  /** Begins a transaction. Returns the steps that could wait so long; none when it could not begin. */
  async #begin(steps: readonly Step<Writer>[]): Promise<readonly Step<Writer>[]> {
    const { database, clock, verify } = this.#options;
    for (let waiting = steps; ;) {
      try {
        verify();
        database.exec('BEGIN IMMEDIATE');
        return waiting;
      } catch (error) {
        const isBusy = sqliteCode(error).startsWith('SQLITE_BUSY');
        const gaveUp = waiting.filter(({ deadline }) => !isBusy || clock.steady() >= deadline);
        for (const { reject } of gaveUp) reject(error);
        waiting = waiting.filter((step) => !gaveUp.includes(step));
        if (waiting.length === 0) return waiting;
      }
      await clock.sleep(lockPollMs);
    }
  }

  /** Runs the steps inside the open transaction. Returns what failed; nothing is stored then. */
  #transact(steps: readonly Step<Writer>[]): { readonly error: unknown } | undefined {
    const { database, createWriter, clock, verify, onCommit } = this.#options;
    try {
      const writer = (this.#writer ??= createWriter());
      writer.begin(clock.now());
      const results = steps.map(({ run }) => run(writer));
      writer.end();
      database.exec('COMMIT');
      verify();
      onCommit?.(steps.length);
      steps.forEach(({ resolve }, i) => resolve(results[i]));
      return undefined;
    } catch (error) {
      this.#writer = undefined;
      return { error: this.#rollBack() ?? error };
    }
  }

  /** The database may have rolled back by itself, as it does when the disk is full. Returns what failed now. */
  #rollBack(): unknown {
    const { database } = this.#options;
    try {
      if (database.inTransaction) database.exec('ROLLBACK');
      return undefined;
    } catch (secondError) {
      // That the rollback failed, too, is the more serious error.
      return secondError;
    }
  }
}

const isOfWholeDatabase = (error: unknown): boolean =>
  error instanceof CannotStoreError || wholeDatabaseCodes.test(sqliteCode(error));
