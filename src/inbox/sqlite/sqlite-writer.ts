import { ComparisonBudget, decideVerdict, type KnownLead, replayedNonce } from '../decide-verdict.ts';
import {
  contentOf,
  type DeliveryContent,
  type Group,
  groupByDelivery,
  rejectedContentOf,
  summaryOf,
  splitErased,
} from '../delivery-record.ts';
import type { Arrival, AttemptRecord, ClaimedLead, LeadClaim, RejectedDelivery, TakeResult } from '../inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { sha256 } from '../../json/bytes.ts';
import type { StoreOptions } from '../store-options.ts';
import { type StoredName, targetAddress } from '../target-name.ts';
import {
  addResult,
  countAttempt,
  findLead,
  insertDelivery,
  insertLead,
  keysIn,
  leadOfDelivery,
  NonceTable,
  SharedContentTable,
  trimRejected,
  trimRepeats,
} from './delivery-tables.ts';
import { ErasedTable } from './erased-leads.ts';
import { type Database, toColumn, Statements } from './libsql.ts';
import { ForwardRows } from './forward-rows.ts';

/** What a receiver reads once from the database it opened. */
export interface OpenedStore {
  readonly storedName: StoredName<string>;
  readonly nonceClockStart: number;
}

/** Writes what `Inbox` names. Every method runs inside a transaction that the caller opened, from `begin` to `end`. */
export class SqliteWriter {
  readonly erased: ErasedTable;
  readonly #forwards: ForwardRows;
  readonly #options: Pick<StoreOptions, 'targets' | 'redact' | 'clock'>;
  readonly #sql: Statements;
  readonly #shared: SharedContentTable;
  readonly #nonces: NonceTable;
  readonly #storedName: StoredName<string>;
  readonly #comparison = new ComparisonBudget();
  #now = 0;
  #seq = 0;
  /** Ids, as columns have them, of leads that came before. */
  #known = new Set<string>();
  /** The same of leads of which something is not written yet. */
  readonly #waiting = new Set<string>();
  readonly #untaken = new Set<RejectedDelivery['rejection']['kind']>();

  constructor(database: Database, options: StoreOptions, opened: OpenedStore) {
    const { claimMs, nonceLifetimeMs } = options;
    const { storedName, nonceClockStart } = opened;
    const sql = new Statements(database);
    this.#options = options;
    this.#sql = sql;
    this.#storedName = storedName;
    this.#forwards = new ForwardRows(sql, { claimMs, storedName });
    this.erased = new ErasedTable(database);
    this.#shared = new SharedContentTable(sql);
    this.#nonces = new NonceTable(sql, nonceLifetimeMs, nonceClockStart);
  }

  /** Numbers are read from the database, since another receiver may have added some. `arrivals`: all that are to be taken. */
  begin(now: number, arrivals: readonly Arrival[]): void {
    this.#now = now;
    this.#seq = Number(this.#sql.get('SELECT seq FROM counter')?.['seq'] ?? 0);
    this.#known = keysIn(
      this.#sql,
      'leads',
      'id',
      arrivals.map(({ leadId }) => toColumn(leadId)),
    );
    this.#nonces.look(arrivals.flatMap(({ nonce }) => nonce ?? []));
    this.#waiting.clear();
    this.#untaken.clear();
    this.#comparison.reset();
    this.#shared.forget();
    this.erased.refresh();
  }

  end(): void {
    this.insertWaiting();
    this.#nonces.removeExpired(this.#options.clock.steady());
    for (const kind of this.#untaken) trimRejected(this.#sql, kind);
    this.#sql.run('UPDATE counter SET seq = ?', this.#seq);
  }

  /** Writes what was taken in so far: to be called before anything but these methods looks at it. */
  insertWaiting(): void {
    this.#sql.insertWaiting();
    this.#waiting.clear();
  }

  take(arrivals: readonly Arrival[]): TakeResult[] {
    return groupByDelivery(arrivals).flatMap((group) => this.#takeDelivery(group));
  }

  reject({ delivery, rejection, leadId }: RejectedDelivery): void {
    if (this.erased.isIn({ delivery, leadId })) return;
    this.#addRejected({ delivery, leadId }, rejection);
  }

  /** `by`: when they are due, in milliseconds since the epoch. */
  claim(target: string, most: number, by: number): ClaimedLead[] {
    return this.#forwards.claim(target, most, by, this.#now);
  }

  claimLead(leadId: string, target: string | undefined): LeadClaim {
    return this.#forwards.claimLead(toColumn(leadId), target, this.#now);
  }

  record(record: AttemptRecord): void {
    const { leadId, seq, target, result } = record;
    if (result !== undefined) {
      const stored = { ...result, address: targetAddress(target) };
      addResult(this.#sql, seq, this.#storedName(target), stored);
    }
    this.#forwards.record(toColumn(leadId), record, this.#now);
  }

  giveUp(target: string, afterMs: number): number {
    return this.#forwards.giveUp(target, this.#now - afterMs, this.#now);
  }

  makeDue(leadId: string): boolean {
    return this.#forwards.makeDue(toColumn(leadId), this.#now);
  }

  /** The lead's id as a column has it. What waits of it is written, so that it can be looked at. */
  #written(leadId: string): string {
    const id = toColumn(leadId);
    if (this.#waiting.has(id)) this.insertWaiting();
    return id;
  }

  #takeDelivery(group: Group): TakeResult[] {
    const [first] = group;
    const { delivery, nonce, place } = first;
    const { clock } = this.#options;
    const split = splitErased(group, (leadId) => this.erased.find(leadId));
    // A body that is the lead is hashed once for both.
    const digest = nonce === undefined && place !== undefined ? undefined : sha256(delivery.body);
    if (nonce !== undefined && digest !== undefined && !this.#nonces.bind(nonce, digest, clock.steady())) {
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
    const { targets = this.#options.targets, claimed = [], delivery, leadId, place } = arrival;
    const id = this.#written(leadId);
    const payload = leadBytes(delivery.body, place);
    const digest = bodyDigest ?? sha256(payload);
    const known = this.#known.has(id) ? this.#knownLead(id, payload, digest) : undefined;
    const verdict = decideVerdict(known, arrival);
    const seq = (this.#seq += 1);
    this.#known.add(id);
    this.#waiting.add(id);
    insertDelivery(this.#sql, { seq, id }, summaryOf(arrival, verdict, content.path, firstSeq), content);
    if (known === undefined) {
      insertLead(this.#sql, id, { seq, firstAt: delivery.receivedAt, digest });
      for (const target of targets) {
        const row = { seq, request: firstSeq ?? seq, isClaimed: claimed.includes(target) };
        this.#forwards.add(id, target, row, this.#now);
      }
    } else {
      countAttempt(this.#sql, id);
      trimRepeats(this.#sql, id, verdict.attempt, verdict.differs !== undefined);
    }
    return { seq, ...verdict };
  }

  #knownLead(id: string, payload: Uint8Array, digest: Uint8Array): KnownLead {
    const row = findLead(this.#sql, id);
    if (row === undefined) throw new Error('a lead id is both known and unknown');
    const isSame = Buffer.compare(row.digest, digest) === 0;
    return {
      firstAt: row.firstAt,
      attempts: row.attempts,
      firstBody: isSame
        ? 'same'
        : this.#comparison.spend(leadOfDelivery(this.#sql, row.seq, this.#shared), payload),
    };
  }

  #addRejected(rejected: Parameters<typeof summaryOf>[0], rejection: RejectedDelivery['rejection']): void {
    const content = rejectedContentOf(rejected.delivery, this.#options.redact);
    this.#untaken.add(rejection.kind);
    this.#seq += 1;
    const id = rejected.leadId === undefined ? null : toColumn(rejected.leadId);
    insertDelivery(this.#sql, { seq: this.#seq, id }, summaryOf(rejected, rejection, content.path), content);
  }
}
