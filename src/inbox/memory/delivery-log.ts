import type { TakenKind } from '../decide-verdict.ts';
import {
  type DeliveryContent,
  type DeliverySummary,
  hasMemberId,
  remainingContent,
} from '../delivery-record.ts';
import type { InboxQuery, StoredDelivery, StoredResult } from '../inbox.ts';
import {
  type CountQuery,
  type DeliveryCount,
  mostAttemptsCounted,
  type ReceiptQuery,
  removedPerMs,
  type StoredReceipt,
} from '../query-types.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { maxRejectedKept, maxResultsKept } from '../store-options.ts';
import { readAnswer } from '../target-answer.ts';
import type { OutstandingWork } from './target-work.ts';

interface Row extends StoredBytes {
  readonly seq: number;
  summary: DeliverySummary;
}

/** The deliveries of a store in memory, by number and therefore in order. */
export class DeliveryLog {
  readonly #rows = new Map<number, Row>();
  readonly #arena = new BodyArena();
  /** Numbers of the deliveries that were not taken and are kept, oldest first. */
  readonly #untaken = { rejected: new Set<number>(), other: new Set<number>() };
  /** By number; most deliveries have none. */
  readonly #results = new Map<number, readonly StoredResult[]>();
  readonly #removed = new RemovedCounts();
  #seq = 0;
  #changes = 0;

  get lastSeq(): number {
    return this.#seq;
  }

  /** Stores what the leads of one delivery share. */
  store({ headers, body }: DeliveryContent): StoredBytes {
    return this.#arena.store(body, JSON.stringify(headers));
  }

  /** The same of a rejected delivery, which is soon dropped. */
  storeRejected({ headers, body }: DeliveryContent): StoredBytes {
    return storeApart(body, JSON.stringify(headers));
  }

  /** Returns the delivery's number. Of rejected ones only the newest stay. */
  add(summary: DeliverySummary, { buffer, start, bodyEnd, end }: StoredBytes): number {
    const seq = (this.#seq += 1);
    this.#changes += 1;
    // Where the bytes are is part of the row: with a million rows, an object less in each counts.
    this.#rows.set(seq, { seq, summary, buffer, start, bodyEnd, end });
    if (summary.verdict === 'rejected' || summary.verdict === 'other') {
      const kept = this.#untaken[summary.verdict].add(seq);
      const [oldest] = kept;
      if (oldest !== undefined && kept.size > maxRejectedKept) this.remove(oldest);
    }
    return seq;
  }

  /** The lead's own bytes; undefined when the delivery was removed. */
  leadOf(seq: number): Uint8Array | undefined {
    const row = this.#rows.get(seq);
    return row === undefined ? undefined : leadBytes(bodyIn(row), row.summary.place);
  }

  /** Undefined when the delivery was removed, or when the query does not match it. */
  find(seq: number, query: InboxQuery): StoredDelivery | undefined {
    const row = this.#rows.get(seq);
    return row === undefined || !matches(row, query) ? undefined : this.#storedDelivery(row);
  }

  /** `taken`: the only ones that are looked at of those that were taken in, by number; some may be removed. */
  *newestFirst(
    query: InboxQuery,
    outstanding: Pick<OutstandingWork, 'has'>,
    taken?: readonly number[],
  ): Generator<StoredDelivery> {
    const { before = Number.POSITIVE_INFINITY, verdicts } = query;
    const isDeadAsked = verdicts?.includes('dead') === true;
    const isPendingAsked = verdicts?.includes('pending') === true;
    const isOutstandingAsked = isPendingAsked || isDeadAsked;
    const isOutstanding = (leadId: string): boolean =>
      outstanding.has(leadId, ({ dead }) => isPendingAsked || dead);
    const said = new Set<string>();
    // Of an outstanding lead only the newest delivery is one, which may be above the range.
    const range = isOutstandingAsked ? { ...query, before: undefined } : query;
    for (const row of taken === undefined ? this.#rowsIn(range) : this.#rowsAmong(taken)) {
      if (!matches(row, range)) continue;
      const { leadId, verdict } = row.summary;
      if (isOutstandingAsked && verdict === 'pending' && leadId !== undefined) {
        if (said.has(leadId) || !isOutstanding(leadId)) continue;
        said.add(leadId);
      }
      if (row.seq < before) yield this.#storedDelivery(row);
    }
  }

  *receipts({ since, until, withRepeats }: ReceiptQuery): Generator<readonly StoredReceipt[]> {
    for (const row of this.#rowsIn({})) {
      const { summary } = row;
      if (!matches(row, { since, until })) continue;
      const isFirst = summary.attempt === 1 && summary.reason === undefined;
      const lead = isFirst || withRepeats ? leadBytes(bodyIn(row), summary.place) : undefined;
      yield [{ ...summary, seq: row.seq, lead }];
    }
  }

  *counts(query: CountQuery): Generator<readonly DeliveryCount[]> {
    yield this.#removed.counts(query);
    const { since, until, isRemoved = false } = query;
    if (isRemoved) return;
    let rows: DeliveryCount[] = [];
    for (const row of this.#rowsIn({})) {
      if (!matches(row, { since, until })) continue;
      const { summary } = row;
      const { createdAt, receivedAt } = summary;
      const delays = createdAt === undefined ? [] : [Math.max(0, receivedAt - createdAt)];
      rows.push({ ...countedAs(summary), part: partOf(receivedAt, query), isRemoved: false, delays });
      if (rows.length < countedRows) continue;
      yield rows;
      rows = [];
    }
    yield rows;
  }

  /** By number, newest first; rows may be added and removed meanwhile. */
  *#rowsIn({ seq: only, firstSeq, before = this.#seq + 1, after = 0 }: InboxQuery): Generator<Row> {
    if (firstSeq !== undefined) {
      yield* this.#rowsAt([...this.#ofRequest(firstSeq)].map(({ seq }) => seq).reverse());
      return;
    }
    const [top, bottom] = only === undefined ? [before - 1, after] : [only, only - 1];
    const [last, first] = [Math.min(top, this.#seq), Math.max(bottom, 0)];
    // Of a flood of rejected deliveries only the newest are kept, and most numbers have no row.
    if (last - first > this.#rows.size * 4) {
      yield* [...this.#rows.values()].reverse();
      return;
    }
    for (let seq = last; seq > first; seq -= 1) {
      const row = this.#rows.get(seq);
      if (row !== undefined) yield row;
    }
  }

  /** And those that were not taken in. */
  #rowsAmong(taken: readonly number[]): Generator<Row> {
    const seqs = [...taken, ...this.#untaken.rejected, ...this.#untaken.other];
    return this.#rowsAt(seqs.sort((a, b) => b - a));
  }

  /** In that order, without removed ones. */
  *#rowsAt(seqs: readonly number[]): Generator<Row> {
    for (const seq of seqs) {
      const row = this.#rows.get(seq);
      if (row !== undefined) yield row;
    }
  }

  *receivedBefore(time: number): Generator<Pick<StoredDelivery, 'seq' | 'leadId'>> {
    for (const { seq, summary } of this.#rows.values()) {
      if (summary.receivedAt < time) yield { seq, leadId: summary.leadId };
    }
  }

  /** Another one after any change. */
  get changes(): number {
    return this.#changes;
  }

  /** Of the oldest delivery; 0 where there is none. */
  get oldestSeq(): number {
    const [seq = 0] = this.#rows.keys();
    return seq;
  }

  /** As `InboxChanges` says. */
  outcomeMarks(seqs: readonly number[]): ReadonlyMap<number, string> {
    return new Map(
      seqs.flatMap((seq): [number, string][] => {
        const row = this.#rows.get(seq);
        const results = this.#results.get(seq) ?? [];
        return row === undefined
          ? []
          : [[seq, `${row.summary.verdict} ${results.length} ${results.at(-1)?.at ?? 0}`]];
      }),
    );
  }

  /** What came of handing the delivery's lead to a target, with the answer as it is stored. */
  addResult(seq: number, result: StoredResult): void {
    this.#changes += 1;
    const row = this.#rows.get(seq);
    if (row === undefined) return;
    const read = { ...result, ...readAnswer(result.answer, row.summary.source) };
    this.#results.set(seq, [...(this.#results.get(seq) ?? []), read].slice(-maxResultsKept));
  }

  /** Gives a delivery that is pending its last verdict. */
  conclude(seq: number, verdict: Exclude<TakenKind, 'pending'>): void {
    this.#changes += 1;
    const row = this.#rows.get(seq);
    if (row?.summary.verdict === 'pending') row.summary = { ...row.summary, verdict, status: 200 };
  }

  /** Without what the deliveries brought, oldest first. */
  summaries(
    isWanted: (delivery: DeliverySummary & { readonly seq: number }) => boolean,
  ): readonly (DeliverySummary & { readonly seq: number })[] {
    return [...this.#rows.values()].map(({ seq, summary }) => ({ ...summary, seq })).filter(isWanted);
  }

  /**
   * Removes deliveries and overwrites their bytes; other leads that came with them stay alone, as do those that came with
   * one of the ids, whose own record may have been dropped.
   */
  erase(seqs: ReadonlySet<number>, ids: ReadonlySet<string>): void {
    const gone = [...this.#rows.values()].filter(({ seq }) => seqs.has(seq));
    for (const { seq } of gone) this.remove(seq);
    const shared = new Set(gone.flatMap(({ summary }) => summary.firstSeq ?? []));
    for (const row of this.#rows.values()) {
      const { firstSeq } = row.summary;
      if (firstSeq !== undefined && !shared.has(firstSeq) && hasMemberId(bodyIn(row), ids))
        shared.add(firstSeq);
    }
    for (const firstSeq of shared) {
      const rest = [...this.#rows.values()].filter(({ summary }) => summary.firstSeq === firstSeq);
      gone.push(...rest);
      this.#keepRest(rest);
    }
    for (const { buffer, start, end } of gone) buffer.fill(0, start, end);
  }

  /** Of a delivery of several leads only these are left. */
  #keepRest(rest: readonly Row[]): void {
    const [first] = rest;
    if (first === undefined) return;
    const places = rest.flatMap(({ summary }) => summary.place ?? []);
    const stored = { path: first.summary.path, headers: headersIn(first), body: bodyIn(first) };
    const { path, headers, body } = remainingContent(stored, places);
    const bytes = storeApart(body, JSON.stringify(headers));
    for (const { seq, summary } of rest) {
      this.#rows.set(seq, { seq, summary: { ...summary, path }, ...bytes });
    }
  }

  remove(seq: number): void {
    this.#changes += 1;
    const row = this.#rows.get(seq);
    if (row !== undefined) this.#removed.add(row.summary);
    this.#rows.delete(seq);
    this.#untaken.rejected.delete(seq);
    this.#untaken.other.delete(seq);
    this.#results.delete(seq);
  }

  /** The status of the one answer to a delivery: of several leads, one that is pending decides for all. */
  #answerTo({ firstSeq, status }: DeliverySummary): number {
    if (firstSeq === undefined) return status;
    for (const { summary } of this.#ofRequest(firstSeq)) {
      if (summary.verdict === 'pending') return summary.status;
    }
    return status;
  }

  /** What came in one request of several leads follows each other. */
  *#ofRequest(firstSeq: number): Generator<Row> {
    for (let seq = firstSeq; seq <= this.#seq; seq += 1) {
      const row = this.#rows.get(seq);
      if (row === undefined) continue;
      if (row.summary.firstSeq !== firstSeq) return;
      yield row;
    }
  }

  #storedDelivery(row: Row): StoredDelivery {
    const { seq } = row;
    const { createdAt: _, ...summary } = row.summary;
    return {
      ...summary,
      seq,
      status: this.#answerTo(row.summary),
      headers: headersIn(row),
      body: bodyIn(row),
      results: this.#results.get(seq) ?? [],
    };
  }
}

function matches({ seq, summary }: Row, query: InboxQuery): boolean {
  return (
    (query.seq === undefined || seq === query.seq) &&
    (query.firstSeq === undefined || summary.firstSeq === query.firstSeq) &&
    seq < (query.before ?? Number.POSITIVE_INFINITY) &&
    seq > (query.after ?? 0) &&
    (query.leadId === undefined || summary.leadId === query.leadId) &&
    (query.verdicts === undefined ||
      query.verdicts.includes(summary.verdict) ||
      (summary.verdict === 'pending' && query.verdicts.includes('dead'))) &&
    summary.receivedAt >= (query.since ?? Number.NEGATIVE_INFINITY) &&
    summary.receivedAt < (query.until ?? Number.POSITIVE_INFINITY)
  );
}

/** Deliveries that one step counts. */
const countedRows = 1000;

const partOf = (time: number, { since, partMs }: CountQuery): number => Math.floor((time - since) / partMs);

/** One delivery as it is counted, without its time. */
const countedAs = ({
  verdict,
  reason,
  source,
  attempt,
}: DeliverySummary): Omit<DeliveryCount, 'part' | 'isRemoved'> => ({
  verdict,
  reason,
  source,
  attempt: Math.min(attempt, mostAttemptsCounted),
  count: 1,
  delays: [],
});

/** What was removed, by the minute. */
class RemovedCounts {
  readonly #counts = new Map<string, DeliveryCount & { readonly minute: number; count: number }>();

  add(summary: DeliverySummary): void {
    const minute = summary.receivedAt - (summary.receivedAt % removedPerMs);
    const counted = countedAs(summary);
    const key = JSON.stringify([minute, counted]);
    const known = this.#counts.get(key);
    if (known !== undefined) known.count += 1;
    else this.#counts.set(key, { ...counted, minute, part: 0, isRemoved: true });
  }

  counts(query: CountQuery): DeliveryCount[] {
    const found = [...this.#counts.values()].filter(
      ({ minute }) => minute >= query.since && minute < query.until,
    );
    return found.map(({ minute, ...counted }) => ({ ...counted, part: partOf(minute, query) }));
  }
}

/** Size of one buffer. */
const bufferBytes = 1024 * 1024;

/** Where a body is and, right behind it, the headers in JSON. */
interface StoredBytes {
  readonly buffer: Buffer;
  readonly start: number;
  readonly bodyEnd: number;
  readonly end: number;
}

/**
 * Many small pieces of bytes in few large buffers: a buffer for each would cost more than it holds, and the garbage
 * collector would look at all of them over and over. A buffer is freed with the last piece in it.
 */
class BodyArena {
  #buffer = Buffer.alloc(0);
  #used = 0;

  store(body: Uint8Array, headers: string): StoredBytes {
    const size = body.length + Buffer.byteLength(headers);
    if (this.#used + size > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(size, bufferBytes));
      this.#used = 0;
    }
    const stored = copyInto(this.#buffer, this.#used, body, headers, size);
    this.#used = stored.end;
    return stored;
  }
}

/** The same in a buffer of its own, for what is soon dropped. */
function storeApart(body: Uint8Array, headers: string): StoredBytes {
  const size = body.length + Buffer.byteLength(headers);
  return copyInto(Buffer.allocUnsafeSlow(size), 0, body, headers, size);
}

const bodyIn = ({ buffer, start, bodyEnd }: StoredBytes): Uint8Array => buffer.subarray(start, bodyEnd);

const headersIn = ({ buffer, bodyEnd, end }: StoredBytes): [string, string][] =>
  JSON.parse(buffer.toString('utf8', bodyEnd, end)) as [string, string][];

function copyInto(
  buffer: Buffer,
  start: number,
  body: Uint8Array,
  headers: string,
  size: number,
): StoredBytes {
  buffer.set(body, start);
  buffer.write(headers, start + body.length);
  return { buffer, start, bodyEnd: start + body.length, end: start + size };
}
