import { hash } from 'node:crypto';
import {
  bufferOf,
  comma,
  openBrace,
  utf8,
  closeBrace,
  closeBracket,
  colon,
  endOfString,
  openBracket,
  quote,
} from '../json/bytes.ts';
import { membersAt } from '../json/members.ts';
import { ScalarMembers } from '../json/scalar-members.ts';
import { scanner } from '../json/scanner.ts';
import { type Comparison, differingFields, type DifferingFields, noDifference } from './compare-payloads.ts';

/** One way in which pushed records follow from pulled ones. */
interface Form {
  /** Of a compact record as it was pulled; the result is good until the next call. Undefined where it cannot be so. */
  readonly apply: (pulled: Buffer) => Buffer | undefined;
  /** It leaves nothing out but the delivery status, which is never compared. */
  readonly isEqual: boolean;
  /** What differs, by the shape of the pulled record: the values of what only it has play no part. */
  readonly fields: Map<number, DifferingFields>;
}

/** Of one kind of lead a service makes few forms; each that does not fit costs a digest. */
const mostForms = 8;

/** Shapes that a form remembers: leads whose members are named by chance have no end of them. */
const mostShapes = 10_000;

/** Where so many leads in a row taught nothing, only one of that many is looked at. */
const patience = 32;

/**
 * Finds out from the digest of a lead what was pushed, without its bytes: the pulled record with its delivery status or
 * without, with the status that it had when it was pushed, or without fields that only the list has. Such forms are
 * learnt from the leads whose bytes were compared. The digest proves the bytes, to the last one.
 */
export class PushedForms {
  readonly #comparison: Comparison;
  readonly #onShape: (pulled: Uint8Array, pushed: Uint8Array) => void;
  /** The one that fitted last is the first. */
  readonly #forms: Form[];
  #taughtNothing = 0;

  /** `onShape` gets a lead of each new shape of those that a digest has proved. */
  constructor(comparison: Comparison, onShape: (pulled: Uint8Array, pushed: Uint8Array) => void) {
    this.#comparison = comparison;
    this.#onShape = onShape;
    const { statusField } = comparison;
    this.#forms = [
      { apply: (pulled) => statusField.without(pulled), isEqual: true, fields: new Map() },
      { apply: (pulled) => pulled, isEqual: true, fields: new Map() },
    ];
  }

  /** What differs in a compact record as it was pulled from what has the digest; undefined where that takes the bytes. */
  fieldsBy(pulled: Uint8Array, digest: string): DifferingFields | undefined {
    const record = Buffer.isBuffer(pulled) ? pulled : bufferOf(pulled);
    for (const [i, form] of this.#forms.entries()) {
      const pushed = form.apply(record);
      if (pushed === undefined || hash('sha256', pushed, 'hex') !== digest) continue;
      if (i > 0) this.#forms.unshift(...this.#forms.splice(i, 1));
      return this.#fieldsOf(form, record, pushed);
    }
    return undefined;
  }

  /** Learns how the one follows from the other, of which no known form has the digest. False where it does not. */
  learn(pulled: Uint8Array, pushed: Uint8Array, digest: string): boolean {
    this.#taughtNothing += 1;
    if (this.#taughtNothing > patience && this.#taughtNothing % patience !== 0) return false;
    const [record, received] = [bufferOf(pulled), bufferOf(pushed)];
    const edits = editsBetween(record, received, this.#comparison.statusField.pathIn(record, received));
    const apply = edits && applying(edits);
    const made = apply?.(record);
    if (apply === undefined || made === undefined || hash('sha256', made, 'hex') !== digest) return false;
    this.#forms.unshift({ apply, isEqual: false, fields: new Map() });
    this.#forms.splice(mostForms);
    this.#taughtNothing = 0;
    return true;
  }

  #fieldsOf({ fields, isEqual }: Form, pulled: Buffer, pushed: Buffer): DifferingFields {
    const shape = shapeOf(pulled);
    let found = fields.get(shape);
    if (found === undefined) {
      found = isEqual ? noDifference : differingFields(pulled, pushed, this.#comparison);
      if (fields.size === mostShapes) fields.clear();
      fields.set(shape, found);
      this.#onShape(pulled, pushed);
    }
    return found;
  }
}

/** A member that goes, or gets another value. */
interface Edit {
  readonly path: readonly string[];
  /** JSON text; undefined: the member goes. */
  readonly value: Buffer | undefined;
}

/** How deep members are looked at that only one record has, and how many there may be. */
const deepest = 4;
const mostEdits = 32;

/**
 * Undefined where the pushed record has what the pulled one has not, or not so, but for its delivery status: a `state` of the
 * lead's own beside that is compared, and its value is not the same in the next lead.
 */
function editsBetween(
  pulled: Buffer,
  pushed: Buffer,
  statusPath: readonly string[] | undefined,
): readonly Edit[] | undefined {
  const [before, after] = [membersIn(pulled), membersIn(pushed)];
  const edits: Edit[] = [];
  const compare = (a: Members, b: Members, parent: readonly string[]): boolean => {
    if ([...b.keys()].some((name) => !a.has(name))) return false;
    for (const [name, member] of a) {
      const other = b.get(name);
      const path = [...parent, name];
      if (other?.text === member.text) continue;
      const isStatus = statusPath?.join('.') === path.join('.');
      if (other === undefined || isStatus) edits.push({ path, value: other && Buffer.from(other.text) });
      else if (member.inside === undefined || other.inside === undefined) return false;
      else if (!compare(member.inside, other.inside, path)) return false;
    }
    return edits.length <= mostEdits;
  };
  return compare(before, after, []) ? edits : undefined;
}

type Members = ReadonlyMap<string, { readonly text: string; readonly inside: Members | undefined }>;

function membersIn(json: Buffer): Members {
  scanner.load(json);
  const at = (start: number, depth: number): Members =>
    new Map(
      membersAt(json, start).map(({ name, start: from, end }) => {
        const inside = json[from] === openBrace && depth < deepest ? at(from, depth + 1) : undefined;
        return [name, { text: utf8(json.subarray(from, end)), inside }];
      }),
    );
  return at(0, 1);
}

function applying(edits: readonly Edit[]): Form['apply'] {
  const members = new ScalarMembers(
    edits.map(({ path }) => path),
    { withContainers: true },
  );
  const nameLengths = edits.map(({ path }) => Buffer.byteLength(path.at(-1) ?? ''));
  let scratch = Buffer.alloc(4096);
  return (pulled) => {
    if (!members.find(pulled, 0, pulled.length)) return undefined;
    const { starts, ends } = members;
    const places = edits
      .map(({ value }, i) => ({ start: starts[i] ?? 0, end: ends[i] ?? 0, name: nameLengths[i] ?? 0, value }))
      .filter(({ start }) => start > 0)
      .sort((a, b) => a.start - b.start);
    if (places.length === 0) return undefined;
    const room = pulled.length + places.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    if (scratch.length < room) scratch = Buffer.alloc(room * 2);
    let length = 0;
    let taken = 0;
    const take = (until: number): void => {
      if (until > taken) length += pulled.copy(scratch, length, taken, until);
    };
    for (const { start, end, name, value } of places) {
      const nameStart = start - name - 3;
      if (value !== undefined) {
        take(start);
        length += value.copy(scratch, length);
        taken = end;
      } else if (pulled[nameStart - 1] === comma && taken < nameStart) {
        take(nameStart - 1);
        taken = end;
      } else {
        take(nameStart);
        taken = pulled[end] === comma ? end + 1 : end;
      }
    }
    take(pulled.length);
    return scratch.subarray(0, length);
  };
}

/** Outside of strings it stands in no other value. */
const firstOfNull = 0x6e;

/**
 * The same number for compact objects with the same members, nested in the same way, of which the same are null: a hash of
 * 53 bits of the keys, brackets, braces and nulls. The text must be valid.
 */
export function shapeOf(record: Uint8Array): number {
  let [high, low] = [17, 31];
  const mix = (byte: number): void => {
    high = Math.imul(high ^ byte, 0x01000193);
    low = Math.imul(low ^ (low >>> 13) ^ byte, 0x5bd1e995);
  };
  for (let i = 0; i < record.length; i += 1) {
    const byte = record[i];
    if (byte === quote) {
      const start = i + 1;
      i = endOfString(record, i) - 1;
      if (record[i + 1] === colon) for (let at = start; at <= i; at += 1) mix(record[at] ?? 0);
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
