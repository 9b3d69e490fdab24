import { isUtf8 } from 'node:buffer';
import type { DataError } from '../errors.ts';
import { bufferOf, isDigit, minus, openBrace, skipSpace, unexpectedAfter } from './bytes.ts';
import { isObject, type Json, parseExact, valueAt } from './exact.ts';
import { absentArray, type ArrayPlace, findArray, hasOtherName, isSame, usualPlaces } from './find-array.ts';
import { endOfInvalid, InvalidRecord, readableId } from './invalid-record.ts';
import {
  arrayTwice,
  invalidJson,
  invalidUtf8,
  noArray,
  recordIsNoObject,
  tooLargeToRead,
  twoArrays,
} from './errors.ts';
import {
  endings,
  type Expects,
  expects,
  incomplete,
  type Records,
  row,
  scanner,
  unexpectedAt,
} from './scanner.ts';
import { recordAt, type ScannedRecord } from './scanned-record.ts';

/** The largest record, and the largest envelope, in bytes: this limits the memory for a page. */
const maxBytes = 16 * 1024 * 1024;

/** To complete a record from the chunk before, at most these bytes of the next chunk are copied. */
const copiedBytes = 4096;

/**
 * Splits a page into its records while it arrives, in chunks cut at any byte. Records keep their bytes and
 * are not parsed. Throws a `DataError` with the position of anything that is not strict JSON in UTF-8, and
 * for an answer without an array of records.
 */
export class PageScan {
  #target: ArrayPlace;
  readonly #idName: string | undefined;
  readonly #keepsInvalid: boolean;
  #fault: DataError | undefined;
  #expects: Expects | undefined;
  #path: readonly string[] = [];
  /**
   * Bytes that are not yet scanned. They are scanned only when they have doubled, so that a long record costs
   * linear time.
   */
  #pending: Uint8Array[] = [];
  #pendingLength = 0;
  #nextScanLength = 4;
  #scannedBytes = 0;
  #prefix = Buffer.alloc(0);
  #recordCount = 0;

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

  push(chunk: Uint8Array, records: ScannedRecord[]): void {
    const remaining = this.#completePending(chunk, records);
    this.#pending.push(remaining);
    this.#pendingLength += remaining.length;
    if (this.#pendingLength >= this.#nextScanLength) this.#advance(this.#gather(), records);
  }

  /** Ends the page: returns the answer beside its records, or undefined when the page was cut off. */
  end(records: ScannedRecord[]): Envelope | undefined {
    this.#advance(this.#gather(), records);
    const suffix = this.#gather();
    if (this.#expects === undefined) return this.#endWithout(suffix, records);
    if (this.#fault !== undefined) throw this.#fault;
    return this.#expects === expects.nothing ? this.#endAfter(suffix) : undefined;
  }

  /**
   * Completes a record with a copy of the start of this chunk, so that the whole chunk need not be copied.
   * Returns the remaining bytes of the chunk.
   */
  #completePending(chunk: Uint8Array, records: ScannedRecord[]): Uint8Array {
    const before = this.#pendingLength;
    const expecting = this.#expects ?? expects.nothing;
    const isFar = before > copiedBytes || chunk.length < 2 * copiedBytes;
    if (before === 0 || isFar || expecting === expects.nothing) return chunk;
    const joined = Buffer.concat([...this.#pending, chunk.subarray(0, copiedBytes)]);
    const done = this.#takeRecords(joined, 0, expecting, records);
    this.#keep(joined.subarray(0, before), Math.min(done, before));
    const usedBytes = Math.max(0, done - before);
    this.#scannedBytes += usedBytes;
    return chunk.subarray(usedBytes);
  }

  #gather(): Buffer {
    const [only] = this.#pending;
    const all =
      this.#pending.length === 1 && only !== undefined
        ? bufferOf(only)
        : Buffer.concat(this.#pending, this.#pendingLength);
    this.#pending = [all];
    return all;
  }

  #keep(buf: Buffer, from: number): void {
    const remaining = buf.subarray(from);
    this.#scannedBytes += from;
    this.#pending = remaining.length === 0 ? [] : [remaining];
    this.#pendingLength = remaining.length;
    this.#nextScanLength = remaining.length * 2;
    if (remaining.length > maxBytes) {
      const isInRecord = this.#expects !== undefined && this.#expects !== expects.nothing;
      const nth = isInRecord ? this.#recordCount + 1 : undefined;
      throw tooLargeToRead(maxBytes, nth);
    }
  }

  #advance(whole: Buffer, records: ScannedRecord[]): void {
    let buf = whole;
    let offset = 0;
    if (this.#expects === undefined) {
      // A byte order mark may be ignored (RFC 8259, section 8.1).
      if (buf[0] === 0xef && buf[1] === 0xbb && buf[2] === 0xbf) {
        this.#scannedBytes = 3;
        buf = buf.subarray(3);
      }
      const search = findArray(buf, this.#target);
      if (search.kind === 'invalid') throw this.#invalid(buf, search.offset);
      if (search.kind !== 'array') {
        this.#keep(buf, 0);
        return;
      }
      this.#path = search.path;
      this.#prefix = Buffer.from(buf.subarray(0, search.start));
      this.#expects = expects.firstRecord;
      offset = search.start;
    }
    if (this.#expects !== expects.nothing) offset = this.#takeRecords(buf, offset, this.#expects, records);
    this.#keep(buf, offset);
  }

  #takeRecords(buf: Buffer, from: number, expecting: Expects, records: ScannedRecord[]): number {
    scanner.load(buf);
    const parts: (Int32Array | InvalidSpan)[] = [];
    let scan: Records = { result: endings.rowsFull, rows: new Int32Array(), done: from, expects: expecting };
    this.#fault = undefined;
    while (scan.result === endings.rowsFull) {
      scan = scanner.records(scan.done, scan.expects);
      parts.push(scan.rows);
      this.#recordCount += scan.rows.length / row.size;
      this.#expects = scan.expects;
      if (scan.result >= incomplete) continue;
      const span = this.#invalidSpan(buf, scan);
      if (span === undefined) break;
      parts.push(span);
      scan = { ...scan, result: endings.rowsFull, done: span.end, expects: expects.separator };
    }
    this.#expects = scan.expects;
    if (scan.result === endings.noObject) throw recordIsNoObject(this.#recordCount + 1);
    const first = records.length;
    for (const part of parts) {
      if (part instanceof Int32Array) {
        for (let offset = 0; offset < part.length; offset += row.size)
          records.push(recordAt(buf, part, offset));
      } else records.push(new InvalidRecord(buf.subarray(part.start, part.end), this.#idName, part));
    }
    if (!isUtf8(buf.subarray(from, scan.done))) this.#readInvalidUtf8(records, first);
    return scan.done;
  }

  /** Returns the record at which the scan found invalid JSON; undefined where its end has not arrived. */
  #invalidSpan(buf: Buffer, { result, done }: Records): InvalidSpan | undefined {
    const start = skipSpace(buf, done, buf.length);
    const unexpected = unexpectedAt(result);
    const isRecord = this.#expects !== expects.separator && buf[start] === openBrace;
    const end = isRecord ? endOfInvalid(buf, start) : -1;
    const fault = this.#invalid(buf, unexpected, isRecord ? buf.subarray(start, end) : undefined);
    if (end === -1 || !this.#keepsInvalid) throw fault;
    this.#fault = end === undefined ? fault : undefined;
    if (end === undefined) return undefined;
    this.#recordCount += 1;
    return { start, end, nth: this.#recordCount, offset: this.#scannedBytes + unexpected };
  }

  /** Bytes that are not UTF-8 are in a record from `first` on, or between two. */
  #readInvalidUtf8(records: ScannedRecord[], first: number): void {
    const before = this.#recordCount - (records.length - first);
    let isKept = false;
    for (let i = first; i < records.length; i += 1) {
      const record = records[i];
      if (record === undefined || isUtf8(record.bytes)) continue;
      const nth = before + i - first + 1;
      if (!this.#keepsInvalid) throw invalidUtf8(nth, readableId(record.bytes, this.#idName));
      records[i] = new InvalidRecord(record.bytes, this.#idName, { nth });
      isKept = true;
    }
    if (!isKept) throw invalidUtf8();
  }

  #endAfter(suffix: Buffer): Envelope | undefined {
    const whole = Buffer.concat([this.#prefix, Buffer.from(']'), suffix]);
    const start = skipSpace(whole, 0, whole.length);
    scanner.load(whole);
    const end = scanner.valueEnd(start);
    if (end === incomplete) return undefined;
    const unexpected = end < incomplete ? unexpectedAt(end) : unexpectedAfter(whole, end, whole.length);
    if (unexpected !== undefined) throw this.#invalid(suffix, unexpected - this.#prefix.length - 1);
    if (!isUtf8(whole)) throw invalidUtf8();
    const envelope = { root: parseExact(whole.toString('utf8')), path: this.#path };
    const secondArray = valueAt(envelope.root, this.#path);
    if (Array.isArray(secondArray) && secondArray.length > 0) throw arrayTwice(this.#path);
    const rival = this.#target === 'auto' ? otherArray(envelope) : undefined;
    if (rival !== undefined) throw twoArrays(this.#path, rival);
    return envelope;
  }

  #endWithout(whole: Buffer, records: ScannedRecord[]): Envelope | undefined {
    const first = whole[skipSpace(whole, 0, whole.length)] ?? 0;
    // The scanner sees the end of a number only when something follows it.
    const closed = isDigit(first) || first === minus ? Buffer.concat([whole, Buffer.from('\n')]) : whole;
    const search = findArray(closed, this.#target);
    if (search.kind === 'incomplete' || search.kind === 'array') return undefined;
    if (search.kind === 'invalid') throw this.#invalid(closed, search.offset);
    const unexpected = unexpectedAfter(closed, search.end, closed.length);
    if (unexpected !== undefined) throw this.#invalid(closed, unexpected);
    if (!isUtf8(whole)) throw invalidUtf8();
    if (search.empty !== undefined) {
      return { root: parseExact(whole.toString('utf8')), path: search.empty };
    }
    const root = search.arrays.length === 0 ? parseExact(whole.toString('utf8')) : undefined;
    const absent = root === undefined ? undefined : absentArray(root, this.#target);
    if (root !== undefined && absent !== undefined)
      return { root, path: absent.path, isWithoutList: !absent.isCertain };
    const only = this.#target === 'auto' ? onlyArray(search.arrays) : undefined;
    if (only === undefined) throw noArray(this.#target, search.arrays);
    this.#target = only;
    return this.end(records);
  }

  #invalid(buf: Uint8Array, offset: number, record?: Buffer): DataError {
    const isInRecord = this.#expects === expects.firstRecord || this.#expects === expects.nextRecord;
    const nth = isInRecord ? this.#recordCount + 1 : undefined;
    const id = isInRecord && record !== undefined ? readableId(record, this.#idName) : undefined;
    return invalidJson(buf[offset] ?? 0, this.#scannedBytes + offset, nth, id);
  }
}

/** A record that is not JSON. `offset` is the position of its unexpected byte in the whole answer. */
interface InvalidSpan {
  readonly start: number;
  readonly end: number;
  readonly nth: number;
  readonly offset: number;
}

/** Returns the only array under a known name, or else the only array of all. */
function onlyArray(arrays: readonly (readonly string[])[]): readonly string[] | undefined {
  const knownNames = arrays.filter(hasOtherName);
  if (knownNames.length > 0) return knownNames.length === 1 ? knownNames[0] : undefined;
  return arrays.length === 1 ? arrays[0] : undefined;
}

/** An answer without its records. */
export interface Envelope {
  /** The whole answer, with the array of records empty. */
  readonly root: Json;
  readonly path: readonly string[];
  /** The answer had no array, and nothing else shows that it is a page of a list. */
  readonly isWithoutList?: boolean;
}

/** Finds another array of objects in a usual place: then `auto` cannot know which one holds the records. */
const otherArray = ({ root, path }: Envelope): readonly string[] | undefined =>
  usualPlaces.find((place) => {
    const value = valueAt(root, place);
    return !isSame(place, path) && Array.isArray(value) && isObject((value as readonly Json[])[0]);
  });
