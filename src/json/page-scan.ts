import { isUtf8 } from 'node:buffer';
import type { DataError } from '../errors.ts';
import { bufferOf, isDigit, minus, skipSpace, unexpectedAfter } from './bytes.ts';
import { formatPointer, isObject, type Json, parseExact, valueAt } from './exact.ts';
import { absentArray, type ArrayPlace, findArray, hasOtherName, isUsualPlace } from './find-array.ts';
import { jsonError } from './problems.ts';
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

  constructor(target: ArrayPlace) {
    this.#target = target;
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
      throw jsonError({ kind: 'too-large-to-read', maxBytes, nth });
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
    const parts: Int32Array[] = [];
    let found: Records = { result: endings.rowsFull, rows: new Int32Array(), done: from, expects: expecting };
    while (found.result === endings.rowsFull) {
      found = scanner.records(found.done, found.expects);
      parts.push(found.rows);
      this.#recordCount += found.rows.length / row.size;
    }
    this.#expects = found.expects;
    if (found.result < incomplete) throw this.#invalid(buf, unexpectedAt(found.result));
    if (found.result === endings.noObject)
      throw jsonError({ kind: 'record-is-no-object', nth: this.#recordCount + 1 });
    const first = records.length;
    for (const rows of parts) {
      for (let offset = 0; offset < rows.length; offset += row.size)
        records.push(recordAt(buf, rows, offset));
    }
    if (!isUtf8(buf.subarray(from, found.done))) {
      const added = records.slice(first);
      throw invalidUtf8(added, this.#recordCount - added.length);
    }
    return found.done;
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
    if (!isUtf8(whole)) throw invalidUtf8([], 0);
    const envelope = { root: parseExact(whole.toString('utf8')), path: this.#path };
    const again = valueAt(envelope.root, this.#path);
    if (Array.isArray(again) && again.length > 0)
      throw jsonError({ kind: 'array-twice', place: formatPointer(this.#path) });
    const other = this.#target === 'auto' ? otherArray(envelope) : undefined;
    if (other !== undefined)
      throw jsonError({ kind: 'two-arrays', place: formatPointer(this.#path), other: formatPointer(other) });
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
    if (!isUtf8(whole)) throw invalidUtf8([], 0);
    if (found.empty !== undefined) {
      return { root: parseExact(whole.toString('utf8')), path: found.empty };
    }
    const root = found.arrays.length === 0 ? parseExact(whole.toString('utf8')) : undefined;
    const absent = root === undefined ? undefined : absentArray(root, this.#target);
    if (root !== undefined && absent !== undefined)
      return { root, path: absent.path, isWithoutList: !absent.isCertain };
    const only = this.#target === 'auto' ? onlyArray(found.arrays) : undefined;
    if (only === undefined) {
      const place = this.#target === 'auto' ? undefined : formatPointer(this.#target);
      throw jsonError({ kind: 'no-array', place, others: found.arrays.map(formatPointer) });
    }
    this.#target = only;
    return this.end(records);
  }

  #invalid(buf: Uint8Array, offset: number): DataError {
    const isInRecord = this.#expects === expects.firstRecord || this.#expects === expects.nextRecord;
    const nth = isInRecord ? this.#recordCount + 1 : undefined;
    return jsonError({
      kind: 'invalid-json',
      byte: buf[offset] ?? 0,
      offset: this.#scannedBytes + offset,
      nth,
    });
  }
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

/** Bytes that are no UTF-8; `before` is how many records precede `records`, one of which may hold them. */
function invalidUtf8(records: readonly ScannedRecord[], before: number): DataError {
  const index = records.findIndex((record) => !isUtf8(record.bytes));
  return jsonError({ kind: 'invalid-utf8', nth: index < 0 ? undefined : before + index + 1 });
}
