import { hash } from 'node:crypto';
import {
  ComparisonBudget,
  decide,
  verdictOnceDone,
  type KnownLead,
  replayedNonce,
  type TakenKind,
  type TakenVerdict,
} from '../decide-verdict.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Rejection } from '../../webhook/rejection.ts';
import {
  contentOf,
  type DeliveryContent,
  type Group,
  groupByDelivery,
  rejectedContentOf,
  summaryOf,
} from '../delivery-record.ts';
import { splitErased } from '../erase/remaining-delivery.ts';
import { leadBytes } from '../lead-bytes.ts';
import type { Arrival, LeaseState, RejectedDelivery, TakeResult, TargetLease } from '../inbox.ts';
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
  #rejectedAdded = 0;

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

  /** Numbers are read from the database, since another receiver may have added some. */
  begin(now: number): void {
    this.#now = now;
    this.#seq = Number(this.#sql.get('SELECT seq FROM counter')?.['seq'] ?? 0);
    this.#noncesSeen = 0;
    this.#rejectedAdded = 0;
    this.#comparison.reset();
    this.#shared.forget();
    this.erased.refresh();
    this.receiver.renew(now);
  }

  end(): void {
    if (this.#noncesSeen > 0) this.#nonces.removeExpired(this.#options.clock.steady(), this.#noncesSeen);
    if (this.#rejectedAdded > 0) trimRejected(this.#sql);
    this.#sql.run('UPDATE counter SET seq = ?', this.#seq);
  }

  take(arrivals: readonly Arrival[]): TakeResult[] {
    return groupByDelivery(arrivals).flatMap((group) => this.#takeDelivery(group));
  }

  reject({ delivery, rejection, leadId }: RejectedDelivery): void {
    if (this.erased.isIn({ delivery, leadId })) return;
    this.#addRejected({ delivery, leadId }, rejection);
  }

  markDone({ leadId, seq, target, result }: TargetLease): TakenKind {
    // Erased while a target was handed the lead.
    if (this.erased.find(leadId) !== undefined) return 'duplicate';
    const id = toColumn(leadId);
    this.#addResult(seq, target, result);
    const undone = this.leases.markDone(id, target);
    const accepted = undone.length === 0 && !acceptLead(this.#sql, id);
    const verdict = verdictOnceDone(undone, { accepted });
    if (verdict !== 'pending') concludeDelivery(this.#sql, seq, verdict);
    return verdict;
  }

  markDoneAtNewAddress({ leadId, seq, target, result }: TargetLease): string | undefined {
    if (this.erased.find(leadId) !== undefined) return undefined;
    this.#addResult(seq, target, result);
    const moved = this.leases.markDoneAtNewAddress(toColumn(leadId), target, this.#now);
    if (moved !== undefined) this.markDone({ leadId, seq, target });
    return moved;
  }

  release({ leadId, seq, target, result }: TargetLease): void {
    if (this.erased.find(leadId) !== undefined) return;
    this.#addResult(seq, target, result);
    this.leases.release(toColumn(leadId), target);
  }

  lease({ leadId, target }: TargetLease): LeaseState {
    return this.leases.lease(toColumn(leadId), target, this.#now);
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
    const asNew = decide(undefined, arrival, targets);
    const isNew = this.#addLead(id, delivery, digest, asNew);
    const verdict = isNew ? asNew : decide(this.#knownLead(id, payload, digest), arrival, targets);
    const seq = (this.#seq += 1);
    insertDelivery(this.#sql, seq, summaryOf(arrival, verdict, content.path, firstSeq), content);
    if (!isNew) {
      countAttempt(this.#sql, id);
      trimRepeats(this.#sql, id, verdict.attempt, verdict.differs !== undefined);
    }
    if (!isNew && verdict.kind === 'accepted') acceptLead(this.#sql, id);
    if (verdict.kind === 'pending') this.leases.grant(id, verdict.targets, this.#now);
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

  #addRejected(rejected: Parameters<typeof summaryOf>[0], rejection: Rejection): void {
    const content = rejectedContentOf(rejected.delivery, this.#options.redact);
    this.#rejectedAdded += 1;
    this.#seq += 1;
    insertDelivery(this.#sql, this.#seq, summaryOf(rejected, rejection, content.path), content);
  }
}

const digestOf = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
