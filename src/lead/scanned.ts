import { backslash, isDigit, minus, quote } from './bytes.ts';
import { decodeString, type Span, type ValueScan } from './scan-value.ts';
import type { LeadText } from './text.ts';

/**
 * A record as the scanner found it. Views and texts are made when they are asked for: a walk over a million leads
 * needs few of them.
 */
export class ScannedLead implements LeadText {
  /** The record is `source[start, end)`: for writers that copy many records at once. */
  readonly source: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** Within `source`: an id's content without quotes, when it can be taken as it stands; empty otherwise. */
  readonly idStart: number;
  readonly idEnd: number;
  readonly #createdStart: number;
  readonly #createdEnd: number;
  readonly #categoryStart: number;
  readonly #categoryEnd: number;
  /** Of an id that is written with escapes, or empty. */
  readonly #idText: string | undefined;

  /** The scan must have just ended with this record, found compact and valid. */
  constructor(source: Uint8Array, start: number, end: number, scan: ValueScan) {
    this.source = source;
    this.start = start;
    this.end = end;
    const { id, createdAt, category } = scan;
    const kind = idKind(source, id);
    const inner = kind === 'plain' ? 1 : 0;
    const taken = kind === 'plain' || kind === 'digits';
    this.idStart = taken ? id.start + inner : 0;
    this.idEnd = taken ? id.end - inner : 0;
    this.#idText = kind === 'escaped' ? decodeString(source, id.start, id.end) : undefined;
    this.#createdStart = createdAt.start;
    this.#createdEnd = createdAt.count === 0 ? createdAt.start : createdAt.end;
    this.#categoryStart = category.start;
    this.#categoryEnd = category.count === 0 ? category.start : category.end;
  }

  get bytes(): Uint8Array {
    return this.source.subarray(this.start, this.end);
  }

  /** Whether there is a usable id, without making a text of it. */
  get hasId(): boolean {
    return this.idEnd > this.idStart || this.#idText !== undefined;
  }

  get id(): string | undefined {
    if (this.idEnd === this.idStart) return this.#idText;
    return Buffer.from(
      this.source.buffer,
      this.source.byteOffset + this.idStart,
      this.idEnd - this.idStart,
    ).toString('utf8');
  }

  get createdAt(): string | undefined {
    return textIn(this.source, this.#createdStart, this.#createdEnd);
  }

  get category(): string | undefined {
    return textIn(this.source, this.#categoryStart, this.#categoryEnd);
  }
}

/**
 * An id is a non-empty string, or an integer taken by its digits, so that 7 and "7" are the same id: a service that
 * changes its mind about the type sends no new leads by that. Repeated as a key it is not usable.
 */
function idKind(buf: Uint8Array, { start, end, count }: Span): 'none' | 'plain' | 'digits' | 'escaped' {
  if (count !== 1) return 'none';
  if (buf[start] === quote) {
    for (let i = start + 1; i < end - 1; i += 1) if (buf[i] === backslash) return 'escaped';
    return end - start > 2 ? 'plain' : 'none';
  }
  for (let i = buf[start] === minus ? start + 1 : start; i < end; i += 1) {
    if (!isDigit(buf[i] as number)) return 'none';
  }
  return 'digits';
}

function textIn(buf: Uint8Array, start: number, end: number): string | undefined {
  return end > start && buf[start] === quote ? decodeString(buf, start, end) : undefined;
}
