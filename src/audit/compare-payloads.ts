import { hash } from 'node:crypto';
import { DataError } from '../errors.ts';
import { payloadDiff } from '../inbox/payload-diff.ts';
import { backslash, bufferOf, closeBrace, colon, comma, compact, quote } from '../json/bytes.ts';
import { changeMember } from '../json/change-members.ts';

/** What is not compared, since it is another thing on each side. */
export interface Uncompared {
  readonly statusField: StatusField;
  /** Members that hold the id: the leads were found by it, and a number has the same digits as a text. */
  readonly idNames: readonly string[];
}

/**
 * Dotted names of the fields whose values are not the same in a lead as it was pulled and as it was received, its delivery
 * status and its id aside. Looks at the fields only where the bytes differ.
 */
export function differingFields(
  pulled: Uint8Array,
  received: Uint8Array,
  { statusField, idNames }: Uncompared,
): readonly string[] {
  const [a, b] = statusField.withoutBoth(pulled, compact(received));
  return Buffer.compare(a, b) === 0 ? [] : payloadDiff(a, b).filter((name) => !idNames.includes(name));
}

/** Leads are compared without their delivery status, which only the service's list shows. */
export class StatusField {
  readonly #fields: readonly { readonly path: readonly string[]; readonly key: Buffer }[];
  #scratch = Buffer.alloc(4096);

  /** `names`: dotted; the first of them that a lead has is its delivery status. */
  constructor(names: readonly string[]) {
    this.#fields = names.map((name) => ({
      path: name.split('.'),
      key: Buffer.from(JSON.stringify(name.split('.').at(-1))),
    }));
  }

  /** SHA-256, in lower-case hex, of a compact record without the delivery status. */
  digest(record: Uint8Array): string {
    return hash('sha256', this.#without(bufferOf(record)), 'hex');
  }

  /**
   * A compact record as it was pulled and as it was received, both without the delivery status. Where the record has
   * several of the names, it is the one that only the pulled record has: a lead may have a `state` of its own.
   */
  withoutBoth(pulled: Uint8Array, received: Uint8Array): readonly [Buffer, Buffer] {
    const [a, b] = [bufferOf(pulled), bufferOf(received)];
    const changed = this.#fields
      .filter(({ key }) => a.includes(key) || b.includes(key))
      .map(({ path }) => ({ pulled: withoutMember(a, path), received: withoutMember(b, path) }));
    const status =
      changed.find((each) => each.pulled !== undefined && each.received === undefined) ??
      changed.find((each) => each.pulled !== undefined) ??
      changed.find((each) => each.received !== undefined);
    return [status?.pulled ?? a, status?.received ?? b];
  }

  /** The result is good until the next call. */
  #without(record: Buffer): Buffer {
    for (const { path, key } of this.#fields) {
      const at = record.lastIndexOf(key);
      if (at === -1) continue;
      // Most services add it as the last member.
      if (path.length === 1 && isLastMember(record, at, key.length)) {
        if (this.#scratch.length < at) this.#scratch = Buffer.alloc(at * 2);
        record.copy(this.#scratch, 0, 0, at - 1);
        this.#scratch[at - 1] = closeBrace;
        return this.#scratch.subarray(0, at);
      }
      const changed = withoutMember(record, path);
      if (changed !== undefined) return changed;
    }
    return record;
  }
}

/** Whether `,KEY:"…"}` ends the record, the key being at `at`. It is the record's own member then, none inside it. */
function isLastMember(record: Buffer, at: number, keyLength: number): boolean {
  const value = at + keyLength + 2;
  const end = record.length - 2;
  return (
    record[at - 1] === comma &&
    record[value - 2] === colon &&
    record[value - 1] === quote &&
    record[end] === quote &&
    record[end + 1] === closeBrace &&
    record.indexOf(quote, value) === end &&
    record.lastIndexOf(backslash) < value
  );
}

function withoutMember(record: Buffer, path: readonly string[]): Buffer | undefined {
  try {
    return changeMember(record, { path, value: undefined });
  } catch (error) {
    // Something on the way to it has no members.
    if (error instanceof DataError) return undefined;
    throw error;
  }
}
