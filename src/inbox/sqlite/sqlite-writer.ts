import { hash } from 'node:crypto';
import { ComparisonBudget } from '../comparison-budget.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { decide, decideSettled, type KnownLead, type TakenKind, type Verdict } from '../decide-verdict.ts';
import { recordOf } from '../delivery-record.ts';
import type { Arrival, LeaseState, RejectedDelivery, TakeResult, TargetLease } from '../inbox.ts';
import type { StoreOptions } from '../inbox-options.ts';
import { toColumn } from './column.ts';
import type { Database, Statement } from './libsql.ts';
import { DeliveryTable } from './tables/delivery-table.ts';
import { LeadTable } from './tables/lead-table.ts';
import { NonceTable } from './tables/nonce-table.ts';
import { RepeatTable } from './tables/repeat-table.ts';
import { ResultTable } from './tables/result-table.ts';
import { TargetLeases } from './tables/target-leases.ts';
import type { TargetNames } from './tables/target-names.ts';

/** What a receiver reads once from the database it opened. */
export interface OpenedStore {
  /** The name on this receiver's leases. */
  readonly owner: string;
  readonly names: TargetNames;
  readonly nonceClockStart: number;
}

/** Writes what `Inbox` names. Every method runs inside a transaction that the caller opened, from `begin` to `end`. */
export class SqliteWriter {
  readonly leases: TargetLeases;
  readonly leads: LeadTable;
  readonly repeats: RepeatTable;
  readonly #options: Pick<StoreOptions, 'targets' | 'redact' | 'clock'>;
  readonly #deliveries: DeliveryTable;
  readonly #nonces: NonceTable;
  readonly #results: ResultTable;
  readonly #names: TargetNames;
  readonly #comparison = new ComparisonBudget();
  readonly #lastSeq: Statement;
  readonly #keepSeq: Statement;
  #now = 0;
  #seq = 0;
  #noncesSeen = 0;
  #rejectedAdded = 0;

  constructor(database: Database, options: StoreOptions, { owner, names, nonceClockStart }: OpenedStore) {
    const { targets, leaseMs, nonceLifetimeMs } = options;
    this.#options = options;
    this.leads = new LeadTable(database);
    this.#names = names;
    this.leases = new TargetLeases(database, { wanted: targets, owner, leaseMs, names });
    this.repeats = new RepeatTable(database);
    this.#results = new ResultTable(database);
    this.#deliveries = new DeliveryTable(database);
    this.#nonces = new NonceTable(database, nonceLifetimeMs, nonceClockStart);
    this.#lastSeq = database.prepare('SELECT seq FROM counter');
    this.#keepSeq = database.prepare('UPDATE counter SET seq = ?');
  }

  /** Numbers are read from the database, since another receiver may have added some. */
  begin(now: number): void {
    this.#now = now;
    this.#seq = Number(this.#lastSeq.get([])?.['seq'] ?? 0);
    this.#noncesSeen = 0;
    this.#rejectedAdded = 0;
    this.#comparison.reset();
  }

  end(): void {
    if (this.#noncesSeen > 0) this.#nonces.removeExpired(this.#options.clock.steady(), this.#noncesSeen);
    if (this.#rejectedAdded > 0) this.#deliveries.trimRejected();
    this.#keepSeq.run([this.#seq]);
  }

  take(arrival: Arrival): TakeResult {
    const { targets } = this.#options;
    const { delivery } = arrival;
    const id = toColumn(arrival.leadId);
    const digest = hash('sha256', delivery.body, 'buffer');
    const nonceTaken = !this.#bindNonce(arrival.nonce, digest);
    // Most leads are new, and the insert alone tells so: only when it does not insert is anything looked up.
    const asNew = decide({ nonceTaken }, arrival, targets);
    const isNew = asNew.kind === 'rejected' || this.#addLead(id, delivery, digest, asNew);
    const verdict = isNew
      ? asNew
      : decide({ nonceTaken, lead: this.#knownLead(id, delivery.body, digest) }, arrival, targets);
    const seq = this.#add(arrival, verdict);
    if (verdict.kind === 'rejected') return verdict;
    if (!isNew) {
      this.leads.countAttempt(id);
      this.repeats.trim(id, verdict.attempt, verdict.differs !== undefined);
    }
    if (!isNew && verdict.kind === 'accepted') this.leads.accept(id);
    if (verdict.kind === 'pending') this.leases.grant(id, verdict.targets, this.#now);
    return { seq, ...verdict };
  }

  reject({ delivery, rejection, leadId }: RejectedDelivery): void {
    this.#add({ delivery, leadId }, rejection);
  }

  settle({ leadId, seq, target, result }: TargetLease): TakenKind {
    const id = toColumn(leadId);
    if (result !== undefined) this.#results.add(seq, this.#names.storedName(target), result);
    const unsettled = this.leases.settle(id, target);
    const accepted = unsettled.length === 0 && !this.leads.accept(id);
    const verdict = decideSettled(unsettled, { accepted });
    if (verdict !== 'pending') this.#deliveries.conclude(seq, verdict);
    return verdict;
  }

  release({ leadId, seq, target, result }: TargetLease): void {
    if (result !== undefined) this.#results.add(seq, this.#names.storedName(target), result);
    this.leases.release(toColumn(leadId), target);
  }

  lease({ leadId, target }: TargetLease): LeaseState {
    return this.leases.lease(toColumn(leadId), target, this.#now);
  }

  /** False when the nonce is bound to another body. */
  #bindNonce(nonce: string | undefined, digest: Uint8Array): boolean {
    if (nonce === undefined) return true;
    this.#noncesSeen += 1;
    return this.#nonces.bind(nonce, digest, this.#options.clock.steady());
  }

  /** Under the number that its delivery gets next. False when the id is known already. */
  #addLead(id: string, { receivedAt }: Delivery, digest: Uint8Array, { kind }: Verdict): boolean {
    const accepted = kind === 'accepted';
    return this.leads.insert(id, { seq: this.#seq + 1, accepted, firstAt: receivedAt, digest });
  }

  #knownLead(id: string, body: Uint8Array, digest: Uint8Array): KnownLead {
    const row = this.leads.find(id);
    if (row === undefined) throw new Error('a lead id is both known and unknown');
    const isSame = Buffer.compare(row.digest, digest) === 0;
    return {
      firstAt: row.firstAt,
      attempts: row.attempts,
      accepted: row.accepted,
      firstBody: isSame ? 'same' : this.#comparison.spend(this.#deliveries.bodyOf(row.seq), body),
      ...this.leases.stateOf(id, this.#now),
    };
  }

  /** Returns the delivery's number. */
  #add(arrival: Parameters<typeof recordOf>[0], verdict: Verdict): number {
    if (verdict.kind === 'rejected') this.#rejectedAdded += 1;
    this.#seq += 1;
    this.#deliveries.insert(this.#seq, recordOf(arrival, verdict, this.#options.redact));
    return this.#seq;
  }
}
