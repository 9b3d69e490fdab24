import { isUtf8 } from 'node:buffer';
import { DataError } from '../errors.ts';
import { bufferOf, isDigit, minus, skipSpace } from './bytes.ts';
import { type Envelope, otherArray } from './envelope.ts';
import { formatPointer, parseExact } from './exact.ts';
import { findArray, offenderAfter, type ArrayPlace } from './find-array.ts';
import { recordAt, type ScannedRecord } from './scanned-record.ts';
import {
  endings,
  type Expects,
  expects,
  incomplete,
  offenderOf,
  type Records,
  row,
  scanner,
} from './scanner.ts';

/** Largest record, and largest rest of an answer beside its leads, in bytes: bounds the memory of a walk. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Takes a page of leads apart while it arrives, in chunks cut at any byte. Records keep their own bytes; nothing is
 * built from them. Throws a `DataError` that names the place for anything that is not strict JSON in UTF-8, and for
 * an answer without an array of leads.
 */
export class PageScan {
  readonly #target: ArrayPlace;
  /** Undefined until the array of leads is found. */
  #expects: Expects | undefined;
  #path: readonly string[] = [];
  /** Bytes not yet taken apart; tried again only when they have doubled, so that long records cost linear time. */
  #pending: Uint8Array[] = [];
  #pendingLength = 0;
  #tryAt = 4;
  /** Bytes in front of the pending ones, for messages. */
  #passed = 0;
  #prefix = Buffer.alloc(0);
  #records = 0;

  constructor(target: ArrayPlace) {
    this.#target = target;
  }

  /** Adds the records that this chunk completes to `leads`. */
  push(chunk: Uint8Array, leads: ScannedRecord[]): void {
    this.#pending.push(chunk);
    this.#pendingLength += chunk.length;
    if (this.#pendingLength >= this.#tryAt) this.#advance(this.#gather(), leads);
  }

  /** No more bytes come: what stands beside the leads, or undefined when the page was cut off. */
  end(leads: ScannedRecord[]): Envelope | undefined {
    this.#advance(this.#gather(), leads);
    const rest = this.#gather();
    if (this.#expects === undefined) return this.#endWithout(rest);
    return this.#expects === expects.nothing ? this.#endAfter(rest) : undefined;
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

  /** Keeps what is behind `from` until enough more has come. */
  #keep(buf: Buffer, from: number): void {
    const rest = buf.subarray(from);
    this.#passed += from;
    this.#pending = rest.length === 0 ? [] : [rest];
    this.#pendingLength = rest.length;
    this.#tryAt = rest.length * 2;
    if (rest.length > maxBytes) {
      throw new DataError(
        this.#expects === undefined || this.#expects === expects.nothing
          ? `the answer holds more than ${maxBytes / 1024 / 1024} MiB beside the leads`
          : `${this.#recordName()} is larger than ${maxBytes / 1024 / 1024} MiB`,
      );
    }
  }

  #advance(whole: Buffer, leads: ScannedRecord[]): void {
    let buf = whole;
    let at = 0;
    if (this.#expects === undefined) {
      // A byte order mark may be ignored (RFC 8259, section 8.1).
      if (buf[0] === 0xef && buf[1] === 0xbb && buf[2] === 0xbf) {
        this.#passed = 3;
        buf = buf.subarray(3);
      }
      const found = findArray(buf, this.#target);
      if (found.kind === 'invalid') throw this.#invalid(buf, found.at);
      if (found.kind !== 'array') {
        this.#keep(buf, 0);
        return;
      }
      this.#path = found.path;
      this.#prefix = Buffer.from(buf.subarray(0, found.start));
      this.#expects = expects.firstRecord;
      at = found.start;
    }
    if (this.#expects !== expects.nothing) at = this.#takeRecords(buf, at, this.#expects, leads);
    this.#keep(buf, at);
  }

  #takeRecords(buf: Buffer, from: number, expecting: Expects, leads: ScannedRecord[]): number {
    scanner.load(buf);
    const parts: Int32Array[] = [];
    let found: Records = { result: endings.rowsFull, rows: new Int32Array(), done: from, expects: expecting };
    while (found.result === endings.rowsFull) {
      found = scanner.records(found.done, found.expects);
      parts.push(found.rows);
      this.#records += found.rows.length / row.size;
    }
    this.#expects = found.expects;
    if (found.result < incomplete) throw this.#invalid(buf, offenderOf(found.result));
    if (found.result === endings.noObject) throw new DataError(`${this.#recordName()} is not a JSON object`);
    const first = leads.length;
    for (const rows of parts) {
      for (let at = 0; at < rows.length; at += row.size) leads.push(recordAt(buf, rows, at));
    }
    if (!isUtf8(buf.subarray(from, found.done))) throw this.#badUtf8(leads.slice(first));
    return found.done;
  }

  #endAfter(suffix: Buffer): Envelope | undefined {
    const whole = Buffer.concat([this.#prefix, Buffer.from(']'), suffix]);
    const start = skipSpace(whole, 0, whole.length);
    // The array of leads is empty here, so an offender lies in front of it or behind it.
    scanner.load(whole);
    const end = scanner.valueEnd(start);
    if (end === incomplete) return undefined;
    const offender = end < incomplete ? offenderOf(end) : offenderAfter(whole, end, whole.length);
    if (offender !== undefined) throw this.#invalid(suffix, offender - this.#prefix.length - 1);
    if (!isUtf8(whole)) throw new DataError('the answer is not valid JSON: bytes that are not UTF-8');
    const envelope = { root: parseExact(whole.toString('utf8')), path: this.#path };
    const rival = this.#target === 'auto' ? otherArray(envelope) : undefined;
    if (rival === undefined) return envelope;
    throw new DataError(
      `the answer holds two arrays of objects: ${formatPointer(this.#path)} and ${formatPointer(rival)}`,
      { hint: `say which one holds the leads: leads config set api.items ${formatPointer(this.#path)}` },
    );
  }

  #endWithout(whole: Buffer): Envelope | undefined {
    const first = whole[skipSpace(whole, 0, whole.length)] ?? 0;
    // A number ends only where something follows it.
    const closed = isDigit(first) || first === minus ? Buffer.concat([whole, Buffer.from('\n')]) : whole;
    const found = findArray(closed, this.#target);
    if (found.kind === 'incomplete' || found.kind === 'array') return undefined;
    if (found.kind === 'invalid') throw this.#invalid(closed, found.at);
    const offender = offenderAfter(closed, found.end, closed.length);
    if (offender !== undefined) throw this.#invalid(closed, offender);
    if (!isUtf8(whole)) throw new DataError('the answer is not valid JSON: bytes that are not UTF-8');
    if (found.empty !== undefined) {
      return { root: parseExact(whole.toString('utf8')), path: found.empty };
    }
    const elsewhere = found.arrays.map(formatPointer);
    throw new DataError(
      this.#target === 'auto'
        ? 'the answer holds no array of leads in a usual place'
        : `the answer holds no array at ${formatPointer(this.#target)}`,
      {
        hint:
          elsewhere[0] === undefined
            ? 'api.path may name another operation; see: leads config get api.path'
            : `if the leads are at ${elsewhere.join(' or ')}: leads config set api.items ${elsewhere[0]}`,
      },
    );
  }

  #recordName(): string {
    return `lead ${this.#records + 1} of the page`;
  }

  #invalid(buf: Uint8Array, at: number): DataError {
    const byte = buf[at] ?? 0;
    const shown = byte > 0x20 && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : `byte ${byte}`;
    const inRecord = this.#expects === expects.firstRecord || this.#expects === expects.nextRecord;
    const where = inRecord ? `, in ${this.#recordName()}` : '';
    const place = this.#passed + at;
    return new DataError(`the answer is not valid JSON: unexpected ${shown} at byte ${place}${where}`, {
      hint:
        place === 0
          ? "the base URL or the path may be another one: 'leads config get base-url', 'leads config get api.path'"
          : undefined,
    });
  }

  #badUtf8(leads: readonly ScannedRecord[]): DataError {
    const nth = leads.findIndex((lead) => !isUtf8(lead.bytes));
    const number = this.#records - leads.length + nth + 1;
    return new DataError(
      `the answer is not valid JSON: bytes that are not UTF-8${nth < 0 ? '' : `, in lead ${number} of the page`}`,
    );
  }
}
