import { isUtf8 } from 'node:buffer';
import type { DataError } from '../errors.ts';
import { bufferOf, isDigit, minus, openBrace, skipSpace, unexpectedAfter } from './bytes.ts';
import { isObject, type Json, parseExact, valueAt } from './exact.ts';
import { absentArray, type ArrayPlace, findArray, hasOtherName, isUsualPlace } from './find-array.ts';
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
  recordAt,
  type Records,
  row,
  type ScannedRecord,
  scanner,
  unexpectedAt,
} from './scanner.ts';

/** The largest record, and the largest envelope around the records, in bytes: the limit of a page's memory. */
const maxBytes = 16 * 1024 * 1024;

/** So many bytes of a chunk are copied to complete the record that the chunk before has begun. */
const copiedBytes = 4096;

/**
 * Splits a page into its records while it arrives, in chunks cut at any byte. Records keep their own bytes; no objects
 * are built from them. Throws a `DataError` that names the place for anything that is not strict JSON in UTF-8, and for
 * an answer without an array of records.
 */
export class PageScan {
  #target: ArrayPlace;
  readonly #idName: string | undefined;
  readonly #keepsInvalid: boolean;
  /** What is wrong with the record that has begun, whose end is not here yet. */
  #fault: DataError | undefined;
  /** Undefined until the array of records is found. */
  #expects: Expects | undefined;
  #path: readonly string[] = [];
  /** Bytes that are not yet scanned. They are rescanned only when they have doubled, so that a long record costs linear time. */
  #pending: Uint8Array[] = [];
  #pendingLength = 0;
  #nextScanLength = 4;
  /** Bytes before the pending ones, for messages. */
  #scannedBytes = 0;
  #prefix = Buffer.alloc(0);
  #recordCount = 0;

  /** `idName`: another name of the id, for messages. `keepsInvalid`: a record that is no JSON is an `InvalidRecord`. */
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

  /** Adds the records that this chunk completes to `records`. */
  push(chunk: Uint8Array, records: ScannedRecord[]): void {
    const rest = this.#completePending(chunk, records);
    this.#pending.push(rest);
    this.#pendingLength += rest.length;
    if (this.#pendingLength >= this.#nextScanLength) this.#advance(this.#gather(), records);
  }

  /** After the last chunk: the rest of the answer beside its records, or undefined when the page was cut off. */
  end(records: ScannedRecord[]): Envelope | undefined {
    this.#advance(this.#gather(), records);
    const rest = this.#gather();
    if (this.#expects === undefined) return this.#endWithout(rest, records);
    if (this.#fault !== undefined) throw this.#fault;
    return this.#expects === expects.nothing ? this.#endAfter(rest) : undefined;
  }

  /**
   * Completes the record that the chunks before have begun with a copy of the beginning of this chunk, so that the chunk need
   * not be copied as a whole. Returns the rest of the chunk.
   */
  #completePending(chunk: Uint8Array, records: ScannedRecord[]): Uint8Array {
    const before = this.#pendingLength;
    const expecting = this.#expects ?? expects.nothing;
    const isFar = before > copiedBytes || chunk.length < 2 * copiedBytes;
    if (before === 0 || isFar || expecting === expects.nothing) return chunk;
    const joined = Buffer.concat([...this.#pending, chunk.subarray(0, copiedBytes)]);
    const done = this.#takeRecords(joined, 0, expecting, records);
    this.#keep(joined.subarray(0, before), Math.min(done, before));
    const taken = Math.max(0, done - before);
    this.#scannedBytes += taken;
    return chunk.subarray(taken);
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

  /** Keeps the bytes from `from` on until more are received. */
  #keep(buf: Buffer, from: number): void {
    const rest = buf.subarray(from);
    this.#scannedBytes += from;
    this.#pending = rest.length === 0 ? [] : [rest];
    this.#pendingLength = rest.length;
    this.#nextScanLength = rest.length * 2;
    if (rest.length > maxBytes) {
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
      const found = findArray(buf, this.#target);
      if (found.kind === 'invalid') throw this.#invalid(buf, found.offset);
      if (found.kind !== 'array') {
        this.#keep(buf, 0);
        return;
      }
      this.#path = found.path;
      this.#prefix = Buffer.from(buf.subarray(0, found.start));
      this.#expects = expects.firstRecord;
      offset = found.start;
    }
    if (this.#expects !== expects.nothing) offset = this.#takeRecords(buf, offset, this.#expects, records);
    this.#keep(buf, offset);
  }

  #takeRecords(buf: Buffer, from: number, expecting: Expects, records: ScannedRecord[]): number {
    scanner.load(buf);
    const parts: (Int32Array | InvalidSpan)[] = [];
    let found: Records = { result: endings.rowsFull, rows: new Int32Array(), done: from, expects: expecting };
    this.#fault = undefined;
    while (found.result === endings.rowsFull) {
      found = scanner.records(found.done, found.expects);
      parts.push(found.rows);
      this.#recordCount += found.rows.length / row.size;
      this.#expects = found.expects;
      if (found.result >= incomplete) continue;
      const span = this.#invalidSpan(buf, found);
      if (span === undefined) break;
      parts.push(span);
      found = { ...found, result: endings.rowsFull, done: span.end, expects: expects.separator };
    }
    this.#expects = found.expects;
    if (found.result === endings.noObject) throw recordIsNoObject(this.#recordCount + 1);
    const first = records.length;
    for (const part of parts) {
      if (part instanceof Int32Array) {
        for (let offset = 0; offset < part.length; offset += row.size)
          records.push(recordAt(buf, part, offset));
      } else records.push(new InvalidRecord(buf.subarray(part.start, part.end), this.#idName, part));
    }
    if (!isUtf8(buf.subarray(from, found.done))) this.#readInvalidUtf8(records, first);
    return found.done;
  }

  /** The record that begins where the scan found what is no JSON; undefined where its end is still to come. */
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

  /** Bytes that are no UTF-8 are in one of the records from `first` on, or between them. */
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
    // The array of records is empty here, so an unexpected byte is before or after it.
    scanner.load(whole);
    const end = scanner.valueEnd(start);
    if (end === incomplete) return undefined;
    const unexpected = end < incomplete ? unexpectedAt(end) : unexpectedAfter(whole, end, whole.length);
    if (unexpected !== undefined) throw this.#invalid(suffix, unexpected - this.#prefix.length - 1);
    if (!isUtf8(whole)) throw invalidUtf8();
    const envelope = { root: parseExact(whole.toString('utf8')), path: this.#path };
    const again = valueAt(envelope.root, this.#path);
    if (Array.isArray(again) && again.length > 0) throw arrayTwice(this.#path);
    const other = this.#target === 'auto' ? otherArray(envelope) : undefined;
    if (other !== undefined) throw twoArrays(this.#path, other);
    return envelope;
  }

  #endWithout(whole: Buffer, records: ScannedRecord[]): Envelope | undefined {
    const first = whole[skipSpace(whole, 0, whole.length)] ?? 0;
    // A number ends only where something follows it.
    const closed = isDigit(first) || first === minus ? Buffer.concat([whole, Buffer.from('\n')]) : whole;
    const found = findArray(closed, this.#target);
    if (found.kind === 'incomplete' || found.kind === 'array') return undefined;
    if (found.kind === 'invalid') throw this.#invalid(closed, found.offset);
    const unexpected = unexpectedAfter(closed, found.end, closed.length);
    if (unexpected !== undefined) throw this.#invalid(closed, unexpected);
    if (!isUtf8(whole)) throw invalidUtf8();
    if (found.empty !== undefined) {
      return { root: parseExact(whole.toString('utf8')), path: found.empty };
    }
    const root = found.arrays.length === 0 ? parseExact(whole.toString('utf8')) : undefined;
    const absent = root === undefined ? undefined : absentArray(root, this.#target);
    if (root !== undefined && absent !== undefined)
      return { root, path: absent.path, isWithoutList: !absent.isCertain };
    const only = this.#target === 'auto' ? onlyArray(found.arrays) : undefined;
    if (only === undefined) throw noArray(this.#target, found.arrays);
    this.#target = only;
    return this.end(records);
  }

  /** `record`: what is there of the record that it is in. */
  #invalid(buf: Uint8Array, offset: number, record?: Buffer): DataError {
    const isInRecord = this.#expects === expects.firstRecord || this.#expects === expects.nextRecord;
    const nth = isInRecord ? this.#recordCount + 1 : undefined;
    const id = isInRecord && record !== undefined ? readableId(record, this.#idName) : undefined;
    return invalidJson(buf[offset] ?? 0, this.#scannedBytes + offset, nth, id);
  }
}

/** A record that is no JSON, and the place of what does not belong there in the whole answer. */
interface InvalidSpan {
  readonly start: number;
  readonly end: number;
  readonly nth: number;
  readonly offset: number;
}

/** The array in no usual place that must be the one: the only one under a known name, or the only one of all. */
function onlyArray(arrays: readonly (readonly string[])[]): readonly string[] | undefined {
  const named = arrays.filter(hasOtherName);
  if (named.length > 0) return named.length === 1 ? named[0] : undefined;
  return arrays.length === 1 ? arrays[0] : undefined;
}

/** The rest of a page beside its records. */
export interface Envelope {
  /** The whole answer, with the array of records empty. */
  readonly root: Json;
  /** Where the array of records was. */
  readonly path: readonly string[];
  /** There was none, and nothing else shows that this is a page of a list. */
  readonly isWithoutList?: boolean;
}

/** The path of another array of objects in a usual place: then `auto` cannot know which one holds the records. */
function otherArray({ root, path }: Envelope): readonly string[] | undefined {
  if (!isObject(root)) return undefined;
  for (const [name, value] of Object.entries(root)) {
    if (isOtherArray([name], value, path)) return [name];
    if (!isObject(value)) continue;
    for (const [inner, nested] of Object.entries(value)) {
      if (isOtherArray([name, inner], nested, path)) return [name, inner];
    }
  }
  return undefined;
}

function isOtherArray(place: readonly string[], value: Json, taken: readonly string[]): boolean {
  return (
    isUsualPlace(place) &&
    place.join('/') !== taken.join('/') &&
    Array.isArray(value) &&
    isObject((value as readonly Json[])[0])
  );
}
