import { isAnyArrayBuffer } from 'node:util/types';
import { utf8 } from '../../json/bytes.ts';

/** The fields of the specification, as a sender says them: nothing checks their kinds. */
export interface LeadFields {
  readonly id?: string;
  readonly category?: string;
  readonly contact?: {
    readonly name?: string;
    readonly email?: string;
    /** Free-form text. */
    readonly phone?: string;
    readonly [more: string]: unknown;
  };
  readonly metadata?: { readonly source?: string; readonly [more: string]: unknown };
  /** ISO 8601 in UTC. */
  readonly createdAt?: string;
  readonly [more: string]: unknown;
}

/** A lead as it was delivered. */
export interface Lead {
  /** At most 512 bytes; of an integer its digits. Deliveries that repeat it are of the same lead. */
  readonly id: string;
  /** One JSON object in UTF-8 without white space: the sender's own tokens, so that every digit is there. */
  readonly bytes: Uint8Array;
  /** The same, parsed when it is first asked for; integers beyond 2^53 lose digits here. */
  readonly value: LeadFields;
}

/** A lead as the service listed it. */
export interface PulledLead {
  /** The value of `id`, an integer by its digits; undefined for a record without one, which may come more than once. */
  readonly id: string | undefined;
  /** One compact JSON object in UTF-8, exactly the service's tokens: numbers keep all their digits here. */
  readonly bytes: Uint8Array;
  /** The same as `JSON.parse` reads it, when it is first asked for: integers beyond 2^53 lose digits. */
  readonly value: LeadFields;
}

/** A lead whose value is parsed when it is first asked for. */
export class LazyLead<Id extends string | undefined> {
  readonly id: Id;
  readonly bytes: Uint8Array;
  #value: LeadFields | undefined;

  /** Copies the bytes: a lead may be kept, and the body or page that it stands in is not to be kept with it. */
  constructor(id: Id, bytes: Uint8Array) {
    this.id = id;
    this.bytes = new Uint8Array(bytes);
  }

  get value(): LeadFields {
    return (this.#value ??= JSON.parse(utf8(this.bytes)) as LeadFields);
  }

  /** `JSON.stringify` gives the lead as it came, not the numbers of its bytes. */
  toJSON(): unknown {
    return JSON.parse(utf8(this.bytes));
  }
}

/** The same memory as bytes; undefined for any other value. Also of another realm, such as that of a test runner. */
export function asBytes(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return isAnyArrayBuffer(value) ? new Uint8Array(value) : undefined;
}
