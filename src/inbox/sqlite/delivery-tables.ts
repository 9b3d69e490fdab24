import type { TakenKind } from '../decide-verdict.ts';
import type { DeliveryContent, DeliverySummary } from '../delivery-record.ts';
import type { HandedResult } from '../inbox.ts';
import { leadBytes } from '../lead-bytes.ts';
import { maxRejectedKept, maxRepeatsKept, maxResultsKept, noncesRemovedPerAdded } from '../store-options.ts';
import { bytesOf, type Database, placeOf, sharedSeqOf, type Statement, textOf, toColumn } from './libsql.ts';

const none = { headers: [], body: new Uint8Array() };

/** The table `deliveries`: one row for each lead of a delivery, rejected ones included, until it is pruned. */
export class DeliveryTable {
  readonly #insert: Statement;
  readonly #bodyOf: Statement;
  readonly #conclude: Statement;
  readonly #trimRejected: Statement;

  constructor(database: Database) {
    this.#insert = database.prepare(
      'INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#bodyOf = database.prepare(
      'SELECT body, lead_start, lead_end, first_seq FROM deliveries WHERE seq = ?',
    );
    this.#conclude = database.prepare(
      "UPDATE deliveries SET verdict = ?, status = 200 WHERE seq = ? AND verdict = 'pending'",
    );
    this.#trimRejected = database.prepare(
      `DELETE FROM deliveries WHERE seq IN
       (SELECT seq FROM deliveries WHERE verdict = 'rejected' ORDER BY seq DESC LIMIT -1 OFFSET ${maxRejectedKept})`,
    );
  }

  /** With headers and body of its own, unless it shares those of `summary.firstSeq`. */
  insert(seq: number, summary: DeliverySummary, content: Pick<DeliveryContent, 'headers' | 'body'>): void {
    const { headers, body } = summary.firstSeq === undefined ? content : none;
    this.#insert.run([
      seq,
      summary.receivedAt,
      summary.leadId === undefined ? null : toColumn(summary.leadId),
      summary.verdict,
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
    ]);
  }

  /** The lead's own bytes; undefined when the delivery was pruned. */
  leadOf(seq: number, shared: Pick<SharedContentTable, 'find'>): Uint8Array | undefined {
    const row = this.#bodyOf.get([seq]);
    if (row === undefined) return undefined;
    const sharedSeq = sharedSeqOf(row);
    const body = sharedSeq === undefined ? bytesOf(row['body']) : shared.find(sharedSeq).body;
    return leadBytes(body, placeOf(row));
  }

  /** Gives a delivery that is pending its last verdict. */
  conclude(seq: number, verdict: Exclude<TakenKind, 'pending'>): void {
    this.#conclude.run([verdict, seq]);
  }

  /** Drops the oldest rejected deliveries beyond those that are kept. */
  trimRejected(): void {
    this.#trimRejected.run([]);
  }
}

export interface LeadRow {
  /** Number of its first delivery. */
  readonly seq: number;
  readonly accepted: boolean;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  /** SHA-256 of the first payload. */
  readonly digest: Uint8Array;
}

/** The table `leads`: one row for each id that was ever taken, kept for ever. Ids are as `toColumn` gives them. */
export class LeadTable {
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #countAttempt: Statement;
  readonly #accept: Statement;

  constructor(database: Database) {
    this.#insert = database.prepare('INSERT INTO leads VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT DO NOTHING');
    this.#find = database.prepare('SELECT seq, state, first_at, attempts, digest FROM leads WHERE id = ?');
    this.#countAttempt = database.prepare('UPDATE leads SET attempts = attempts + 1 WHERE id = ?');
    this.#accept = database.prepare("UPDATE leads SET state = 'accepted' WHERE id = ? AND state = 'pending'");
  }

  /** False when the id is there already. */
  insert(id: string, { seq, accepted, firstAt, digest }: LeadRow): boolean {
    const state = accepted ? 'accepted' : 'pending';
    return this.#insert.run([id, seq, state, firstAt, digest]).changes === 1;
  }

  find(id: string): (LeadRow & { readonly attempts: number }) | undefined {
    const row = this.#find.get([id]);
    return row === undefined
      ? undefined
      : {
          seq: Number(row['seq']),
          accepted: row['state'] === 'accepted',
          firstAt: Number(row['first_at']),
          attempts: Number(row['attempts']),
          digest: row['digest'] as Uint8Array,
        };
  }

  countAttempt(id: string): void {
    this.#countAttempt.run([id]);
  }

  /** False when the lead was accepted before. */
  accept(id: string): boolean {
    return this.#accept.run([id]).changes === 1;
  }
}

type Content = Pick<DeliveryContent, 'headers' | 'body'>;

/**
 * The table `shared_content`: headers and body of a delivery that brought several leads, once for all of them, under the
 * number of the first. It goes with the last of them.
 */
export class SharedContentTable {
  readonly #insert: Statement;
  readonly #find: Statement;
  /** The leads of a delivery mostly follow each other. */
  #last: { readonly seq: number; readonly content: Content } | undefined;

  constructor(database: Database) {
    this.#insert = database.prepare('INSERT INTO shared_content VALUES (?, ?, ?)');
    this.#find = database.prepare('SELECT headers, body FROM shared_content WHERE seq = ?');
  }

  insert(seq: number, { headers, body }: Content): void {
    this.#insert.run([seq, JSON.stringify(headers), body]);
  }

  /** Empty where a damaged file has lost it. */
  find(seq: number): Content {
    if (this.#last?.seq === seq) return this.#last.content;
    const [row] = this.#find.all([seq]);
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

/**
 * The status of the one answer to a delivery of several leads: a lead in it that is pending decides for all of them.
 * `firstSeq` is the number of the first of them, `own` the status that the lead alone would have got.
 */
export function sharedAnswers(database: Database): (firstSeq: number, own: number) => number {
  const pending = database.prepare(
    "SELECT status FROM deliveries WHERE first_seq = ? AND verdict = 'pending' LIMIT 1",
  );
  /** The leads of a delivery mostly follow each other. */
  let last: { readonly firstSeq: number; readonly status: number | undefined } | undefined;
  return (firstSeq, own) => {
    if (last?.firstSeq !== firstSeq) {
      const [row] = pending.all([firstSeq]);
      last = { firstSeq, status: row === undefined ? undefined : Number(row['status']) };
    }
    return last.status ?? own;
  };
}

/** Repeats that are dropped at once, at most: an inbox of an earlier version may hold a great many. */
const maxDroppedAtOnce = 200;

/** Keeps the newest repeats of each lead, and counts the others. Ids are as `toColumn` gives them. */
export class RepeatTable {
  readonly #drop: Statement;
  readonly #count: Statement;

  constructor(database: Database) {
    this.#drop = database.prepare(
      `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM deliveries
       WHERE lead = ? AND attempt > 1 AND (differs IS NULL) = ?
       ORDER BY seq DESC LIMIT ${maxDroppedAtOnce} OFFSET ${maxRepeatsKept})`,
    );
    this.#count = database.prepare(
      `INSERT INTO dropped_repeats VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET differing = differing + excluded.differing, same = same + excluded.same`,
    );
  }

  /** After delivery number `attempt` of that id was added; `differs`: with another payload than the first one. */
  trim(id: string, attempt: number, differs: boolean): void {
    if (attempt <= maxRepeatsKept + 1) return;
    const { changes } = this.#drop.run([id, differs ? 0 : 1]);
    if (changes > 0) this.#count.run([id, differs ? changes : 0, differs ? 0 : changes]);
  }
}

/** The table `results`: what came of handing a delivery's lead to targets, numbered from 1; dropped with the delivery. */
export class ResultTable {
  readonly #last: Statement;
  readonly #insert: Statement;
  readonly #trim: Statement;

  constructor(database: Database) {
    this.#last = database.prepare('SELECT MAX(number) AS last FROM results WHERE seq = ?');
    this.#insert = database.prepare('INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#trim = database.prepare('DELETE FROM results WHERE seq = ? AND number <= ?');
  }

  /** `target` as `TargetNames` stores it. */
  add(seq: number, target: string, { ok, answer, at, durationMs }: HandedResult): void {
    const number = Number(this.#last.get([seq])?.['last'] ?? 0) + 1;
    this.#insert.run([seq, number, target, ok ? 1 : 0, answer, at, durationMs]);
    if (number > maxResultsKept) this.#trim.run([seq, number - maxResultsKept]);
  }
}

/**
 * The replay guard: each nonce is good for one body, for as long as a delivery that carries it could verify. Times are
 * those of a clock that only goes while a receiver runs: the system's time may be set a day ahead and back again.
 */
export class NonceTable {
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #renew: Statement;
  readonly #remove: Statement;
  readonly #keepTime: Statement;
  readonly #startedAt: number;
  readonly #lifetimeMs: number;

  /** `startedAt`: the time when the clock that gives `steady` was at 0. */
  constructor(database: Database, lifetimeMs: number, startedAt: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#startedAt = startedAt;
    this.#insert = database.prepare('INSERT INTO nonces VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    this.#find = database.prepare('SELECT digest, expires FROM nonces WHERE nonce = ?');
    this.#renew = database.prepare('UPDATE nonces SET digest = ?, expires = ? WHERE nonce = ?');
    this.#remove = database.prepare(
      'DELETE FROM nonces WHERE nonce IN (SELECT nonce FROM nonces WHERE expires <= ? ORDER BY expires LIMIT ?)',
    );
    this.#keepTime = database.prepare('UPDATE nonce_clock SET at = ?1 WHERE at < ?1');
  }

  /** Binds the nonce to the body's digest; false when it is bound to another one. Inside a transaction. */
  bind(nonce: string, digest: Uint8Array, steady: number): boolean {
    const now = Math.round(this.#startedAt + steady);
    if (this.#insert.run([nonce, digest, now + this.#lifetimeMs]).changes === 1) return true;
    const bound = this.#find.get([nonce]);
    if (bound === undefined) return false;
    if (Number(bound['expires']) <= now) {
      this.#renew.run([digest, now + this.#lifetimeMs, nonce]);
      return true;
    }
    return Buffer.compare(bound['digest'] as Uint8Array, digest) === 0;
  }

  /** Removes some of the expired ones. Inside a transaction. */
  removeExpired(steady: number, added: number): void {
    const now = Math.round(this.#startedAt + steady);
    this.#keepTime.run([now]);
    this.#remove.run([now, added * noncesRemovedPerAdded]);
  }
}

/** When the clock that gives `steady` now was at 0, on the clock of the nonces. */
export const nonceClockStart = (database: Database, steady: number): number =>
  Number(database.prepare('SELECT at FROM nonce_clock').get([])?.['at'] ?? 0) - steady;

/** The own bytes of the lead of a delivery that is there, in a database of any version. */
export function leadBytesAt(database: Database, seq: number): Uint8Array {
  const [row = {}] = database.prepare('SELECT * FROM deliveries WHERE seq = ?').all([seq]);
  const sharedSeq = sharedSeqOf(row);
  const [shared] =
    sharedSeq === undefined
      ? [row]
      : database.prepare('SELECT body FROM shared_content WHERE seq = ?').all([sharedSeq]);
  return leadBytes(bytesOf(shared?.['body']), placeOf(row));
}
