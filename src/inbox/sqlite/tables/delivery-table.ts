import type { TakenKind } from '../../decide-verdict.ts';
import type { DeliveryRecord } from '../../delivery-record.ts';
import { maxRejectedKept } from '../../store-limits.ts';
import { toColumn } from '../column.ts';
import type { Database, Statement } from '../libsql.ts';

/** The table `deliveries`: one row for each delivery, rejected ones included, until it is pruned. */
export class DeliveryTable {
  readonly #insert: Statement;
  readonly #bodyOf: Statement;
  readonly #conclude: Statement;
  readonly #trimRejected: Statement;

  constructor(database: Database) {
    this.#insert = database.prepare(
      'INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#bodyOf = database.prepare('SELECT body FROM deliveries WHERE seq = ?');
    this.#conclude = database.prepare(
      "UPDATE deliveries SET verdict = ?, status = 200 WHERE seq = ? AND verdict = 'pending'",
    );
    this.#trimRejected = database.prepare(
      `DELETE FROM deliveries WHERE seq IN
       (SELECT seq FROM deliveries WHERE verdict = 'rejected' ORDER BY seq DESC LIMIT -1 OFFSET ${maxRejectedKept})`,
    );
  }

  insert(seq: number, { summary, headers, body }: DeliveryRecord): void {
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
    ]);
  }

  /** Undefined when the delivery was pruned. */
  bodyOf(seq: number): Uint8Array | undefined {
    const body = this.#bodyOf.get([seq])?.['body'];
    return body instanceof Uint8Array ? body : undefined;
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
