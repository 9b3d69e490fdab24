import { DataError } from '../errors.ts';
import { type Difference, numberOf, payloadDifferences, payloadPaths } from '../json/payload-diff.ts';
import {
  backslash,
  bufferOf,
  closeBrace,
  closeBracket,
  colon,
  comma,
  compact,
  endOfStringBytes,
  openBrace,
  openBracket,
  quote,
} from '../json/bytes.ts';
import { changeMember } from '../json/members.ts';
import { readCreatedAt } from '../lead/raw-lead.ts';

export interface Comparison {
  readonly statusField: StatusField;
  /** Members that hold the id: the leads were found by it, and a number has the same digits as a text. */
  readonly idNames: readonly string[];
  /** Dotted; what is inside such a field is not compared either. */
  readonly ignored: readonly string[];
}

export interface DifferingFields {
  readonly differing: readonly string[];
  /** Only the pulled lead has them. Where other pushes carry one of these, that is a difference, too. */
  readonly absent: readonly string[];
}

export const noDifference: DifferingFields = { differing: [], absent: [] };

/**
 * Compares a lead as it was pulled and as it was received. Times are compared as instants and numbers by
 * value, and null is as if it were absent.
 */
export function differingFields(
  pulled: Uint8Array,
  received: Uint8Array,
  { statusField, idNames, ignored }: Comparison,
): DifferingFields {
  const [a, b] = statusField.withoutBoth(pulled, compact(received));
  if (Buffer.compare(a, b) === 0) return noDifference;
  const isIgnored = (field: string): boolean =>
    idNames.includes(field) || ignored.some((path) => field === path || field.startsWith(`${path}.`));
  const differing = new Set<string>();
  const absent = new Set<string>();
  for (const difference of payloadDifferences(a, b)) {
    const { name, path, after, isElement } = difference;
    if (isIgnored(name) || isIgnored(path) || meansTheSame(difference)) continue;
    if (isElement || !isNothing(after)) differing.add(name);
    else absent.add(path);
  }
  return { differing: [...differing], absent: [...absent] };
}

const isNothing = (value: unknown): boolean => value === undefined || value === null;

/** These are times even as plain numbers, which count seconds or milliseconds. JSON:API has them among the attributes. */
const creationTimes = ['createdAt', 'attributes.createdAt'];

function meansTheSame({ name, before, after, isElement }: Difference): boolean {
  if (isNothing(before) && isNothing(after)) return !isElement;
  if (isNumeric(before) && isNumeric(after) && !creationTimes.includes(name)) return false;
  const time = readCreatedAt(numberOf(before) ?? before);
  return time !== undefined && time === readCreatedAt(numberOf(after) ?? after);
}

/** Two numbers are compared as such, and not as times. */
const isNumeric = (value: unknown): boolean =>
  numberOf(value) !== undefined || (typeof value === 'string' && /^[\d.]+$/.test(value));

/**
 * Removes the delivery status from leads before they are compared, since as a rule only the service's list shows it. Of the possible names of
 * its field, `without` takes the first that a pulled record has, quickly and for every record; `withoutBoth` sees both records, and can
 * tell the delivery status from a field of the lead with such a name.
 */
export class StatusField {
  readonly #fields: readonly { readonly path: readonly string[]; readonly key: Buffer }[];
  /** `without` returns a part of it, which is valid until the next call. */
  #reusedMemory = Buffer.alloc(4096);

  /** `names`: dotted; the first of them that a lead has is its delivery status. */
  constructor(names: readonly string[]) {
    this.#fields = names.map((name) => ({
      path: name.split('.'),
      key: Buffer.from(JSON.stringify(name.split('.').at(-1))),
    }));
  }

  /**
   * A compact record as it was pulled and as it was received, both without the delivery status. Where the record has
   * several of the names, it is the one that only the pulled record has: a lead may have a `state` of its own.
   */
  withoutBoth(pulled: Uint8Array, received: Uint8Array): readonly [Buffer, Buffer] {
    const [a, b] = [bufferOf(pulled), bufferOf(received)];
    const removals = this.#fields
      .filter(({ key }) => a.includes(key) || b.includes(key))
      .map(({ path }) => ({ pulled: withoutMember(a, path), received: withoutMember(b, path) }));
    const removal =
      removals.find((each) => each.pulled !== undefined && each.received === undefined) ??
      removals.find((each) => each.pulled !== undefined) ??
      removals.find((each) => each.received !== undefined);
    return [removal?.pulled ?? a, removal?.received ?? b];
  }

  /** A compact record as it was pulled, without its delivery status. The result is valid until the next call. */
  without(record: Buffer): Buffer {
    for (const { path, key } of this.#fields) {
      const keyStart = record.lastIndexOf(key);
      if (keyStart === -1) continue;
      // Most services have it as the last member, which is removed without parsing.
      if (path.length === 1 && isLastMember(record, keyStart, key.length)) {
        if (this.#reusedMemory.length < keyStart) this.#reusedMemory = Buffer.alloc(keyStart * 2);
        record.copy(this.#reusedMemory, 0, 0, keyStart - 1);
        this.#reusedMemory[keyStart - 1] = closeBrace;
        return this.#reusedMemory.subarray(0, keyStart);
      }
      const changed = withoutMember(record, path);
      if (changed !== undefined) return changed;
    }
    return record;
  }
}

/** Whether `,KEY:"…"}` ends the record, the key being at `keyStart`. It is the record's own member then, none inside it. */
function isLastMember(record: Buffer, keyStart: number, keyLength: number): boolean {
  const value = keyStart + keyLength + 2;
  const end = record.length - 2;
  return (
    record[keyStart - 1] === comma &&
    record[value - 2] === colon &&
    record[value - 1] === quote &&
    record[end] === quote &&
    record[end + 1] === closeBrace &&
    record.indexOf(quote, value) === end &&
    record.lastIndexOf(backslash) < value
  );
}

/** Undefined where the record has no such member. */
function withoutMember(record: Buffer, path: readonly string[]): Buffer | undefined {
  try {
    return changeMember(record, { path, value: undefined });
  } catch (error) {
    const isParentNoObject = error instanceof DataError;
    if (isParentNoObject) return undefined;
    throw error;
  }
}

/** A bound for leads whose members are named by chance, of which each one may have a new shape and new fields. */
const mostShapes = 10_000;
const mostPaths = mostShapes;

/** Collects the fields that any of many leads has with a value other than null. A lead of a known shape has no new ones. */
export class CarriedFields {
  readonly #paths = new Set<string>();
  readonly #shapes = new Set<number>();

  add(record: Uint8Array): void {
    const shape = shapeOf(record);
    if (this.#shapes.has(shape) || this.#isFull) return;
    if (this.#shapes.size === mostShapes) this.#shapes.clear();
    this.#shapes.add(shape);
    for (const path of payloadPaths(record)) this.#paths.add(path);
  }

  /** `path`: dotted, without the places of elements. Of too many fields to remember it is true for each. */
  has(path: string): boolean {
    return this.#isFull || this.#paths.has(path);
  }

  get #isFull(): boolean {
    return this.#paths.size > mostPaths;
  }
}

/** Outside of strings only `null` has this letter. */
const firstOfNull = 0x6e;

/**
 * The same number for compact objects with the same members, nested in the same way, of which the same are null: a hash of
 * the keys, brackets, braces and nulls in 53 bits, as many as an integer of JavaScript has. The text must be valid JSON.
 */
function shapeOf(record: Uint8Array): number {
  let [high, low] = [17, 31];
  // The multipliers of FNV-1a and of MurmurHash2 make two hashes that are independent enough.
  const mix = (byte: number): void => {
    high = Math.imul(high ^ byte, 0x01000193);
    low = Math.imul(low ^ (low >>> 13) ^ byte, 0x5bd1e995);
  };
  for (let i = 0; i < record.length; i += 1) {
    const byte = record[i];
    if (byte === quote) {
      const start = i + 1;
      i = endOfStringBytes(record, i) - 1;
      if (record[i + 1] === colon) for (let index = start; index <= i; index += 1) mix(record[index] ?? 0);
    } else if (
      byte === openBrace ||
      byte === closeBrace ||
      byte === openBracket ||
      byte === closeBracket ||
      byte === firstOfNull
    ) {
      mix(byte);
    }
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
