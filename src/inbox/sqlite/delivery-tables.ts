import { type DeliveryContent, type DeliverySummary, keptVerdict, otherEvent } from '../delivery-record.ts';
import type { StoredResult } from '../inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { maxRejectedKept, maxRepeatsKept, maxResultsKept, noncesRemovedPerAdded } from '../store-options.ts';
import { bytesOf, type Database, placeOf, sharedSeqOf, textOf, type Statements } from './libsql.ts';

const noContent = { headers: [], body: new Uint8Array() };

/**
 * A row of `deliveries`, which has one for each lead of a delivery, rejected ones included, until it is pruned. It has
 * headers and body of its own, unless it shares those of `summary.firstSeq`. Ids are as `toColumn` gives them, here and
 * below. What begins with `insert` is written with `insertWaiting`.
 */
export function insertDelivery(
  sql: Statements,
  { seq, id }: { readonly seq: number; readonly id: string | null },
  summary: DeliverySummary,
  content: Pick<DeliveryContent, 'headers' | 'body'>,
): void {
  const { headers, body } = summary.firstSeq === undefined ? content : noContent;
  sql.insertLater('deliveries', [
    seq,
    summary.receivedAt,
    id,
    keptVerdict(summary.verdict),
    summary.reason ?? null,
    summary.detail ?? null,
    summary.status,
    summary.attempt,
    summary.source,
    summary.differs === undefined ? null : JSON.stringify(summary.differs),
    summary.remote,
    summary.method,
    summary.path,
    JSON.stringify(headers),
    body,
    summary.place?.start ?? null,
    summary.place?.end ?? null,
    summary.firstSeq ?? null,
    summary.createdAt ?? null,
  ]);
}

/** The lead's own bytes; undefined when the delivery was pruned. */
export function leadOfDelivery(
  sql: Statements,
  seq: number,
  shared: Pick<SharedContentTable, 'find'>,
): Uint8Array | undefined {
  const row = sql.get('SELECT body, lead_start, lead_end, first_seq FROM deliveries WHERE seq = ?', seq);
  if (row === undefined) return undefined;
  const sharedSeq = sharedSeqOf(row);
  const body = sharedSeq === undefined ? bytesOf(row['body']) : shared.find(sharedSeq).body;
  return leadBytes(body, placeOf(row));
}

/** Drops the oldest rejected deliveries beyond those that are kept, or the oldest other events: neither makes room for the other. */
export const trimRejected = (sql: Statements, kind: 'rejected' | 'other'): unknown =>
  sql.run(dropRejected, kind === 'other' ? 1 : 0);

const dropRejected = `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM deliveries
  WHERE verdict = 'rejected' AND (reason IS '${otherEvent}') = ? ORDER BY seq DESC LIMIT -1 OFFSET ${maxRejectedKept})`;

type Content = Pick<DeliveryContent, 'headers' | 'body'>;

/**
 * The table `shared_content`: headers and body of a delivery that brought several leads, once for all of them, under the
 * number of the first. It goes with the last of them.
 */
export class SharedContentTable {
  readonly #sql: Statements;
  /** The leads of a delivery mostly follow each other. */
  #last: { readonly seq: number; readonly content: Content } | undefined;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  insert(seq: number, { headers, body }: Content): void {
    this.#sql.run('INSERT INTO shared_content VALUES (?, ?, ?)', seq, JSON.stringify(headers), body);
  }

  /** Empty where a damaged file has lost it. */
  find(seq: number): Content {
    if (this.#last?.seq === seq) return this.#last.content;
    const [row] = this.#sql.all('SELECT headers, body FROM shared_content WHERE seq = ?', seq);
    const headers = JSON.parse(textOf(row?.['headers']) || '[]') as [string, string][];
    const content = { headers, body: bytesOf(row?.['body']) };
    this.#last = { seq, content };
    return content;
  }

  /** What was read may have been erased since, or rolled back and its number used again. */
  forget(): void {
    this.#last = undefined;
  }
}

interface LeadRow {
  /** Number of its first delivery. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  /** SHA-256 of the first payload. */
  readonly digest: Uint8Array;
}

/** Those of the values that some row of the table has as its key. */
export function keysIn(sql: Statements, table: string, key: string, values: readonly string[]): Set<string> {
  const [first, second] = values;
  if (first === undefined) return new Set();
  if (second === undefined) {
    const isIn = sql.get(`SELECT 1 FROM ${table} WHERE ${key} = ?`, first) !== undefined;
    return new Set(isIn ? values : []);
  }
  const found = sql.all(
    `SELECT ${table}.${key} AS found FROM json_each(?) AS asked CROSS JOIN ${table} ON ${table}.${key} = asked.value`,
    JSON.stringify(values),
  );
  return new Set(found.map((row) => textOf(row['found'])));
}

/** A row of `leads`, which has one for each id that was ever taken, and keeps it for ever. */
export const insertLead = (sql: Statements, id: string, { seq, firstAt, digest }: LeadRow): void =>
  sql.insertLater('leads', [id, seq, firstAt, 1, digest]);

export function findLead(sql: Statements, id: string): (LeadRow & { readonly attempts: number }) | undefined {
  const row = sql.get('SELECT seq, first_at, attempts, digest FROM leads WHERE id = ?', id);
  return (
    row && {
      seq: Number(row['seq']),
      firstAt: Number(row['first_at']),
      attempts: Number(row['attempts']),
      digest: row['digest'] as Uint8Array,
    }
  );
}

export const countAttempt = (sql: Statements, id: string): unknown =>
  sql.run('UPDATE leads SET attempts = attempts + 1 WHERE id = ?', id);

const dropRepeats = `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM deliveries
  WHERE lead = ? AND attempt > 1 AND (differs IS NULL) = ?
  ORDER BY seq DESC LIMIT -1 OFFSET ${maxRepeatsKept})`;

/**
 * Keeps the newest repeats of a lead, and counts the others, after delivery number `attempt` of its id was added.
 * `differs`: with another payload than the first one.
 */
export function trimRepeats(sql: Statements, id: string, attempt: number, differs: boolean): void {
  if (attempt <= maxRepeatsKept + 1) return;
  sql.insertWaiting();
  const dropped = sql.run(dropRepeats, id, differs ? 0 : 1);
  if (dropped === 0) return;
  sql.run(
    `INSERT INTO dropped_repeats VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET differing = differing + excluded.differing, same = same + excluded.same`,
    id,
    differs ? dropped : 0,
    differs ? 0 : dropped,
  );
}

/**
 * A row of `results`: what came of an attempt to forward a delivery's lead, numbered from 1; dropped with the delivery.
 * Nothing is written where that is gone. `target`: its stored name.
 */
export function addResult(
  sql: Statements,
  seq: number,
  target: string,
  { ok, answer, at, durationMs, kind, address }: Omit<StoredResult, 'target'>,
): void {
  const last = sql.get('SELECT MAX(number) AS last FROM results WHERE seq = ?', seq)?.['last'];
  const number = Number(last ?? 0) + 1;
  sql.run(
    `INSERT INTO results SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
     WHERE EXISTS (SELECT 1 FROM deliveries WHERE seq = ?1)`,
    seq,
    number,
    target,
    ok ? 1 : 0,
    answer,
    at,
    durationMs,
    kind,
    address ?? null,
  );
  if (number > maxResultsKept) {
    sql.run('DELETE FROM results WHERE seq = ? AND number <= ?', seq, number - maxResultsKept);
  }
}

/**
 * The replay guard: each nonce is good for one body, for as long as a delivery that carries it could verify. Times are
 * those of a clock that only goes while a receiver runs: the system's time may be set a day ahead and back again.
 */
export class NonceTable {
  readonly #sql: Statements;
  readonly #startedAt: number;
  readonly #lifetimeMs: number;
  #known = new Set<string>();
  /** In this transaction. */
  #bound = 0;

  /** `startedAt`: the time when the clock that gives `steady` was at 0. */
  constructor(sql: Statements, lifetimeMs: number, startedAt: number) {
    this.#sql = sql;
    this.#lifetimeMs = lifetimeMs;
    this.#startedAt = startedAt;
  }

  /** To be called in each transaction before `bind`, with all that it binds. */
  look(nonces: readonly string[]): void {
    this.#known = keysIn(this.#sql, 'nonces', 'nonce', nonces);
    this.#bound = nonces.length;
  }

  /** Binds the nonce to the body's digest; false when it is bound to another one. Inside a transaction. */
  bind(nonce: string, digest: Uint8Array, steady: number): boolean {
    const sql = this.#sql;
    const now = Math.round(this.#startedAt + steady);
    const expires = now + this.#lifetimeMs;
    if (!this.#known.has(nonce)) {
      this.#known.add(nonce);
      sql.insertLater('nonces', [nonce, digest, expires]);
      return true;
    }
    sql.insertWaiting();
    const bound = sql.get('SELECT digest, expires FROM nonces WHERE nonce = ?', nonce);
    if (bound === undefined) return false;
    if (Number(bound['expires']) <= now) {
      sql.run('UPDATE nonces SET digest = ?, expires = ? WHERE nonce = ?', digest, expires, nonce);
      return true;
    }
    return Buffer.compare(bound['digest'] as Uint8Array, digest) === 0;
  }

  /** Removes some of the expired ones. Inside a transaction. */
  removeExpired(steady: number): void {
    if (this.#bound === 0) return;
    const now = Math.round(this.#startedAt + steady);
    this.#sql.run('UPDATE nonce_clock SET at = ?1 WHERE at < ?1', now);
    this.#sql.run(
      'DELETE FROM nonces WHERE nonce IN (SELECT nonce FROM nonces WHERE expires <= ? ORDER BY expires LIMIT ?)',
      now,
      this.#bound * noncesRemovedPerAdded,
    );
  }
}

/** When the clock that gives `steady` now was at 0, on the clock of the nonces. */
export const nonceClockStart = (database: Database, steady: number): number =>
  Number(database.prepare('SELECT at FROM nonce_clock').get([])?.['at'] ?? 0) - steady;
