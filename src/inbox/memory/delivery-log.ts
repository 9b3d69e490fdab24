import type { TakenKind } from '../decide.ts';
import type { DeliveryRecord } from '../delivery-record.ts';
import type { InboxQuery, StoredDelivery } from '../inbox.ts';
import { maxRejectedKept } from '../limits.ts';
import { bodyIn, ByteArena, headersIn, storeApart, type StoredBytes } from './byte-arena.ts';

type Row = Omit<StoredDelivery, 'headers' | 'body'> & { readonly bytes: StoredBytes };

/** The deliveries of a store in memory, by number and therefore in order. */
export class DeliveryLog {
  readonly #rows = new Map<number, Row>();
  readonly #arena = new ByteArena();
  /** Numbers of the rejected deliveries that are kept, oldest first. */
  readonly #rejected = new Set<number>();
  #seq = 0;

  /** Returns the delivery's number. Of rejected ones only the newest stay. */
  add({ headers, body, ...record }: DeliveryRecord): number {
    const isRejected = record.verdict === 'rejected';
    const json = JSON.stringify(headers);
    const bytes = isRejected ? storeApart(body, json) : this.#arena.store(body, json);
    const seq = (this.#seq += 1);
    this.#rows.set(seq, { seq, ...record, bytes });
    if (isRejected) this.#rejected.add(seq);
    const [oldest] = this.#rejected;
    if (oldest !== undefined && this.#rejected.size > maxRejectedKept) this.remove(oldest);
    return seq;
  }

  /** Undefined when the delivery was removed. */
  bodyOf(seq: number): Uint8Array | undefined {
    const row = this.#rows.get(seq);
    return row === undefined ? undefined : bodyIn(row.bytes);
  }

  /** Undefined when the delivery was removed, or when the query does not match it. */
  find(seq: number, query: InboxQuery): StoredDelivery | undefined {
    const row = this.#rows.get(seq);
    return row === undefined || !matches(row, query) ? undefined : storedDelivery(row);
  }

  *newestFirst(query: InboxQuery): Generator<StoredDelivery> {
    for (const row of [...this.#rows.values()].reverse()) {
      if (matches(row, query)) yield storedDelivery(row);
    }
  }

  *receivedBefore(time: number): Generator<Pick<Row, 'seq' | 'leadId'>> {
    for (const row of this.#rows.values()) if (row.receivedAt < time) yield row;
  }

  /** Gives a delivery that is pending its last verdict. */
  conclude(seq: number, verdict: Exclude<TakenKind, 'pending'>): void {
    const row = this.#rows.get(seq);
    if (row?.verdict === 'pending') this.#rows.set(seq, { ...row, verdict, status: 200 });
  }

  remove(seq: number): void {
    this.#rows.delete(seq);
    this.#rejected.delete(seq);
  }
}

const storedDelivery = ({ bytes, ...rest }: Row): StoredDelivery => ({
  ...rest,
  headers: headersIn(bytes),
  body: bodyIn(bytes),
});

function matches(row: Row, { verdicts, leadId, seq, since, until }: InboxQuery): boolean {
  return (
    (seq === undefined || row.seq === seq) &&
    (leadId === undefined || row.leadId === leadId) &&
    (verdicts === undefined || verdicts.includes(row.verdict)) &&
    row.receivedAt >= (since ?? Number.NEGATIVE_INFINITY) &&
    row.receivedAt < (until ?? Number.POSITIVE_INFINITY)
  );
}
