import type { TakenKind } from '../../decide-verdict.ts';
import type { DeliveryContent, DeliverySummary } from '../../delivery-record.ts';
import { leadBytes } from '../../lead-bytes.ts';
import { maxRejectedKept } from '../../store-limits.ts';
import { bytesOf, placeOf, sharedSeqOf, toColumn } from '../column.ts';
import type { Database, Statement } from '../libsql.ts';
import type { SharedContentTable } from './shared-content.ts';

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
