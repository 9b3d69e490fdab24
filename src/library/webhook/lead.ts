import { isAnyArrayBuffer } from 'node:util/types';
import { utf8 } from '../../json/bytes.ts';

/** The fields of the specification as the sender wrote them: their types are not checked. */
export interface LeadFields {
  readonly id?: string;
  readonly category?: string;
  readonly contact?: {
    readonly name?: string;
    readonly email?: string;
    readonly phone?: string;
    readonly [more: string]: unknown;
  };
  readonly metadata?: { readonly source?: string; readonly [more: string]: unknown };
  /** An ISO 8601 time in UTC, such as `2026-01-31T12:00:00Z`. */
  readonly createdAt?: string;
  readonly [more: string]: unknown;
}

/** A lead of a delivery. Deliveries with the same id are of the same lead. */
export interface Lead {
  /** The value of `id`, or the digits of an integer; at most 512 bytes. */
  readonly id: string;
  /**
   * A JSON object in UTF-8 without white space, in the tokens of the sender or the service: numbers keep all their
   * digits.
   */
  readonly bytes: Uint8Array;
  /** The same as `JSON.parse` reads it, at the first access: integers beyond 2^53 lose digits. */
  readonly value: LeadFields;
}

/** A lead of the service's list. */
export interface PulledLead extends Omit<Lead, 'id'> {
  /**
   * The value of `id`, or the digits of an integer; undefined for a record without an id, which may come more
   * than once.
   */
  readonly id: string | undefined;
}

/** A `Lead` or a `PulledLead`, whose JSON is parsed at the first access to `value`. */
export class LazyLead<Id extends string | undefined> {
  readonly id: Id;
  readonly bytes: Uint8Array;
  #value: LeadFields | undefined;

  /** Copies the bytes: an application may keep the lead, but not the whole body or page in memory. */
  constructor(id: Id, bytes: Uint8Array) {
    this.id = id;
    this.bytes = new Uint8Array(bytes);
  }

  get value(): LeadFields {
    return (this.#value ??= JSON.parse(utf8(this.bytes)) as LeadFields);
  }

  /** `JSON.stringify` writes the lead itself, not the numbers of its bytes. */
  toJSON(): unknown {
    return JSON.parse(utf8(this.bytes));
  }
}

/** Returns the bytes of a received lead, bytes or text unchanged, and an object as JSON. */
export function bytesOfLead(lead: object | string): Uint8Array {
  if (typeof lead === 'string') return Buffer.from(lead);
  const received = 'bytes' in lead ? lead.bytes : undefined;
  return asBytes(lead) ?? asBytes(received) ?? Buffer.from(JSON.stringify(lead));
}

/**
 * Returns the same memory as bytes, also from another realm, such as that of a test runner; undefined for any
 * other value.
 */
export function asBytes(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return isAnyArrayBuffer(value) ? new Uint8Array(value) : undefined;
}
