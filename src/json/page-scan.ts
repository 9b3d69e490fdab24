import { isUtf8 } from 'node:buffer';
import type { DataError } from '../errors.ts';
import {
  bufferOf,
  bomLength,
  closeBracket,
  comma,
  endOfContainer,
  isDigit,
  minus,
  openBrace,
  skipSpace,
  unexpectedAfter,
} from './bytes.ts';
import { emptyPage, type Envelope, onlyArray, rivalArray } from './page-envelope.ts';
import {
  arrayTwice,
  invalidJson,
  invalidUtf8,
  noArray,
  recordIsNoObject,
  tooLargeToRead,
  twoArrays,
} from './errors.ts';
import { parseExact, valueAt } from './exact.ts';
import { type ArrayPlace, findArray } from './find-array.ts';
import { InvalidRecord, readableIdIn, recordAt, type ScannedRecord } from './scanned-record.ts';
import { endings, type Expects, expects, incomplete, row, scanner, unexpectedAt } from './scanner.ts';

/** The largest record, and the largest envelope, in bytes: this limits the memory for a page. */
const maxBytes = 16 * 1024 * 1024;

const maxCopiedBytes = 4096;

/**
 * Splits a page into its records while it arrives, in chunks cut at any byte. Records keep their bytes and
 * are not parsed. Throws a `DataError` with the position of anything that is not strict JSON in UTF-8, and
 * for an answer without an array of records.
 *
 * Chunks are collected as pending bytes. At first the array is looked for in all of them. The answer up to
 * its opening bracket is kept, and from there on complete records are taken off the pending bytes. After the
 * closing bracket the bytes stay pending until `end`, which joins them with the kept start to the envelope.
 */
export class PageScan {
  #target: ArrayPlace;
  readonly #idName: string | undefined;
  readonly #keepsInvalid: boolean;
  /** Undefined until the array was found. The prefix is the answer up to and including its opening bracket. */
  #array: { readonly path: readonly string[]; readonly prefix: Buffer } | undefined;
  #expects: Expects = expects.firstRecord;
  /**
   * The bytes that no record was taken from yet, and the position of the first one in the answer. They are scanned
   * when they have `#nextScanLength`: at first 4, for a byte order mark of 3 bytes and a byte after it, and then when
   * they have doubled, so that a long record costs linear time.
   */
  #pending: Uint8Array[] = [];
  #pendingLength = 0;
  #pendingOffset = 0;
  #nextScanLength = 4;
  #recordCount = 0;
  /** The fault of the pending record if it is not JSON and may continue: thrown where the page ends with it. */
  #pendingFault: DataError | undefined;

  /**
   * `idName` is another name of the id, for messages. With `keepsInvalid`, a record that is not JSON becomes
   * an `InvalidRecord`.
   */
  constructor(
    target: ArrayPlace,
    {
      idName,
      keepsInvalid = false,
    }: { readonly idName?: string | undefined; readonly keepsInvalid?: boolean } = {},
  ) {
    this.#target = target;
    this.#idName = idName;
    this.#keepsInvalid = keepsInvalid;
  }

  /** Appends the records that are complete with this chunk to `records`. */
  push(chunk: Uint8Array, records: ScannedRecord[]): void {
    const remaining = this.#completePendingRecord(chunk, records);
    this.#pending.push(remaining);
    this.#pendingLength += remaining.length;
    if (this.#pendingLength >= this.#nextScanLength) this.#scanPending(records);
  }

  /** Ends the page: returns the answer without its records, or undefined when the page was cut off. */
  end(records: ScannedRecord[]): Envelope | undefined {
    this.#scanPending(records);
    const remaining = this.#joinPending();
    if (this.#array === undefined) return this.#endWithoutArray(remaining, records);
    if (this.#pendingFault !== undefined) throw this.#pendingFault;
    if (this.#expects !== expects.nothing) return undefined;
    return this.#readEnvelope(this.#array, remaining);
  }

  get #isInArray(): boolean {
    return this.#array !== undefined && this.#expects !== expects.nothing;
  }

  /**
   * Completes the pending record with a copy of the first `maxCopiedBytes` of this chunk, so that the whole chunk
   * need not be copied. Returns the bytes of the chunk that follow the records which are complete in the copy: the
   * caller makes them pending, so that of the copy only bytes of earlier chunks may stay pending.
   */
  #completePendingRecord(chunk: Uint8Array, records: ScannedRecord[]): Uint8Array {
    const pendingLength = this.#pendingLength;
    const sparesCopying = pendingLength <= maxCopiedBytes && chunk.length >= 2 * maxCopiedBytes;
    if (pendingLength === 0 || !sparesCopying || !this.#isInArray) return chunk;
    const joined = Buffer.concat([...this.#pending, chunk.subarray(0, maxCopiedBytes)]);
    const end = this.#takeRecords(joined, 0, records);
    this.#keepPendingFrom(joined.subarray(0, pendingLength), Math.min(end, pendingLength));
    const usedOfChunk = Math.max(0, end - pendingLength);
    this.#pendingOffset += usedOfChunk;
    return chunk.subarray(usedOfChunk);
  }

  #joinPending(): Buffer {
    const [only] = this.#pending;
    const all =
      this.#pending.length === 1 && only !== undefined
        ? bufferOf(only)
        : Buffer.concat(this.#pending, this.#pendingLength);
    this.#pending = [all];
    return all;
  }

  #keepPendingFrom(buf: Buffer, start: number): void {
    const remaining = buf.subarray(start);
    this.#pendingOffset += start;
    this.#pending = remaining.length === 0 ? [] : [remaining];
    this.#pendingLength = remaining.length;
    this.#nextScanLength = remaining.length * 2;
    if (remaining.length > maxBytes)
      throw tooLargeToRead(maxBytes, this.#isInArray ? this.#recordCount + 1 : undefined);
  }

  #scanPending(records: ScannedRecord[]): void {
    let buf = this.#joinPending();
    let arrayStart = 0;
    if (this.#array === undefined) {
      // A byte order mark may be ignored (RFC 8259, section 8.1).
      const markLength = bomLength(buf);
      if (markLength > 0) this.#pendingOffset = markLength;
      buf = buf.subarray(markLength);
      const search = findArray(buf, this.#target);
      if (search.kind === 'invalid') throw this.#invalidAt(buf, search.offset);
      if (search.kind === 'array') {
        arrayStart = search.start;
        this.#array = { path: search.path, prefix: Buffer.from(buf.subarray(0, arrayStart)) };
      }
    }
    this.#keepPendingFrom(buf, this.#isInArray ? this.#takeRecords(buf, arrayStart, records) : 0);
  }

  /**
   * Appends the complete records of `buf` from `start` on to `records`. Returns the position after the last
   * one and the comma or bracket that follows it.
   */
  #takeRecords(buf: Buffer, start: number, records: ScannedRecord[]): number {
    const { parts, end } = this.#scanRecords(buf, start);
    const first = records.length;
    for (const part of parts) {
      if (part instanceof Int32Array) {
        for (let offset = 0; offset < part.length; offset += row.size)
          records.push(recordAt(buf, part, offset));
      } else records.push(new InvalidRecord(buf.subarray(part.start, part.end), this.#idName, part));
    }
    if (!isUtf8(buf.subarray(start, end))) this.#replaceInvalidUtf8(records, first);
    return end;
  }

  /**
   * Scans complete records, as rows of the scanner and places of invalid ones. It creates no records, because
   * that can load another text into the scanner.
   */
  #scanRecords(
    buf: Buffer,
    start: number,
  ): { readonly parts: readonly (Int32Array | InvalidSpan)[]; readonly end: number } {
    const parts: (Int32Array | InvalidSpan)[] = [];
    let position = start;
    this.#pendingFault = undefined;
    scanner.load(buf);
    for (;;) {
      const scan = scanner.records(position, this.#expects);
      position = scan.done;
      parts.push(scan.rows);
      this.#recordCount += scan.rows.length / row.size;
      this.#expects = scan.expects;
      if (scan.result === endings.noObject) throw recordIsNoObject(this.#recordCount + 1);
      if (scan.result === endings.rowsFull) continue;
      if (scan.result === endings.arrayEnded || scan.result === incomplete) return { parts, end: position };
      const invalid = this.#skipInvalidRecord(buf, position, unexpectedAt(scan.result));
      if (invalid === undefined) return { parts, end: position };
      parts.push(invalid);
      position = invalid.end;
    }
  }

  /**
   * Returns the place of the record after `position`, in which the byte at `unexpected` is not JSON, and
   * counts it. Undefined where its end has not arrived. Throws where invalid records are not kept, and where
   * the byte is between records.
   */
  #skipInvalidRecord(buf: Buffer, position: number, unexpected: number): InvalidSpan | undefined {
    const start = skipSpace(buf, position, buf.length);
    const isRecord = this.#expects !== expects.separator && buf[start] === openBrace;
    const end = isRecord ? endOfInvalid(buf, start) : 'unknown';
    const text = isRecord ? buf.subarray(start, typeof end === 'number' ? end : undefined) : undefined;
    const fault = this.#invalidAt(buf, unexpected, text);
    if (end === 'unknown' || !this.#keepsInvalid) throw fault;
    if (end === 'not arrived') {
      this.#pendingFault = fault;
      return undefined;
    }
    this.#recordCount += 1;
    this.#expects = expects.separator;
    return { start, end, nth: this.#recordCount, offset: this.#pendingOffset + unexpected };
  }

  /**
   * Replaces the records from index `first` on that are not UTF-8 by invalid ones. Throws where those are not
   * kept, and where the bytes that are not UTF-8 are between records.
   */
  #replaceInvalidUtf8(records: ScannedRecord[], first: number): void {
    const countBefore = this.#recordCount - (records.length - first);
    let hasReplaced = false;
    for (let i = first; i < records.length; i += 1) {
      const record = records[i];
      if (record === undefined || isUtf8(record.bytes)) continue;
      const nth = countBefore + i - first + 1;
      if (!this.#keepsInvalid) throw invalidUtf8(nth, readableIdIn(record.bytes, this.#idName));
      records[i] = new InvalidRecord(record.bytes, this.#idName, { nth });
      hasReplaced = true;
    }
    if (!hasReplaced) throw invalidUtf8();
  }

  #readEnvelope(
    { path, prefix }: { readonly path: readonly string[]; readonly prefix: Buffer },
    suffix: Buffer,
  ): Envelope | undefined {
    const whole = Buffer.concat([prefix, Buffer.from(']'), suffix]);
    scanner.load(whole);
    const end = scanner.valueEnd(skipSpace(whole, 0, whole.length));
    if (end === incomplete) return undefined;
    const unexpected = end < incomplete ? unexpectedAt(end) : unexpectedAfter(whole, end, whole.length);
    if (unexpected !== undefined) throw this.#invalidAt(suffix, unexpected - prefix.length - 1);
    if (!isUtf8(whole)) throw invalidUtf8();
    const envelope = { root: parseExact(whole.toString('utf8')), path };
    // Parsing takes the last value of a repeated name: the array of records is empty here, another one may not be.
    const lastArray = valueAt(envelope.root, path);
    if (Array.isArray(lastArray) && lastArray.length > 0) throw arrayTwice(path);
    const rival = this.#target === 'auto' ? rivalArray(envelope) : undefined;
    if (rival !== undefined) throw twoArrays(path, rival);
    return envelope;
  }

  /** Reads an empty page, or for `auto` the only array of the answer: the scan is repeated with it as the target. */
  #endWithoutArray(whole: Buffer, records: ScannedRecord[]): Envelope | undefined {
    const first = whole[skipSpace(whole, 0, whole.length)] ?? 0;
    // The scanner sees the end of a number only when something follows it.
    const closed = isDigit(first) || first === minus ? Buffer.concat([whole, Buffer.from('\n')]) : whole;
    const search = findArray(closed, this.#target);
    if (search.kind === 'incomplete' || search.kind === 'array') return undefined;
    if (search.kind === 'invalid') throw this.#invalidAt(closed, search.offset);
    const unexpected = unexpectedAfter(closed, search.end, closed.length);
    if (unexpected !== undefined) throw this.#invalidAt(closed, unexpected);
    if (!isUtf8(whole)) throw invalidUtf8();
    const { emptyPath, otherPaths } = search;
    if (emptyPath !== undefined) return { root: parseExact(whole.toString('utf8')), path: emptyPath };
    if (otherPaths.length === 0) {
      const page = emptyPage(parseExact(whole.toString('utf8')), this.#target);
      if (page !== undefined) return page;
    }
    const only = this.#target === 'auto' ? onlyArray(otherPaths) : undefined;
    if (only === undefined) throw noArray(this.#target, otherPaths);
    this.#target = only;
    return this.end(records);
  }

  #invalidAt(buf: Uint8Array, offset: number, record?: Buffer): DataError {
    const isInRecord = this.#isInArray && this.#expects !== expects.separator;
    const nth = isInRecord ? this.#recordCount + 1 : undefined;
    const id = isInRecord && record !== undefined ? readableIdIn(record, this.#idName) : undefined;
    return invalidJson(buf[offset] ?? 0, this.#pendingOffset + offset, nth, id);
  }
}

/** The place in the pending bytes of a record that is not JSON; `nth` and `offset` are those of `InvalidRecord`. */
interface InvalidSpan {
  readonly start: number;
  readonly end: number;
  readonly nth: number;
  readonly offset: number;
}

/**
 * Returns the end of an object that is not valid JSON, by its brackets outside of strings. It is unknown where
 * the next byte cannot follow an element of an array.
 */
function endOfInvalid(buf: Buffer, start: number): number | 'not arrived' | 'unknown' {
  const end = endOfContainer(buf, start);
  const next = skipSpace(buf, end, buf.length);
  if (next >= buf.length) return 'not arrived';
  return buf[next] === comma || buf[next] === closeBracket ? end : 'unknown';
}
