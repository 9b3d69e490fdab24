import { bufferOf, quote, utf8 } from '../json/bytes.ts';
import { type Json, parseExact } from '../json/exact.ts';
import { mayHoldResources } from '../json/resource.ts';
import { ScalarMembers } from '../json/scalar-members.ts';
import { fieldAt } from '../lead/raw-lead.ts';
import type { RecordBytes } from '../output/records/record-types.ts';
import { BucketCounts, type BucketUnit } from './time-buckets.ts';
import { MatrixCounts, noValue, otherValues, ValueCounts } from './value-counts.ts';

/** How many leads there are, by values of their fields and by time; memory is bounded, whatever the leads hold. */
export class LeadCounts {
  readonly facets: readonly Facet[];
  readonly #values: readonly ValueCounts[];
  /** Of two facets, where they are to be counted together. */
  readonly matrix: MatrixCounts | undefined;
  readonly buckets: BucketCounts;
  #total = 0;
  #undated = 0;

  constructor(facets: readonly Facet[], isMatrix: boolean, unit: BucketUnit | undefined, zone?: string) {
    this.facets = facets;
    this.#values = facets.map(() => new ValueCounts());
    this.matrix = isMatrix ? new MatrixCounts() : undefined;
    this.buckets = new BucketCounts(unit, zone);
  }

  get total(): number {
    return this.#total;
  }

  /** Leads whose time is not known: they are in the total and in no bucket. */
  get undated(): number {
    return this.#undated;
  }

  /** `time` in milliseconds since the epoch, for its bucket. */
  add(found: FacetValues, time: number | undefined): void {
    this.#total += 1;
    if (time === undefined) this.#undated += 1;
    else this.buckets.add(time);
    for (const [i, counts] of this.#values.entries()) {
      for (const value of found[i] ?? []) counts.add(value);
    }
    if (this.matrix === undefined) return;
    const [rows = [], columns = []] = found;
    for (const row of rows) for (const column of columns) this.matrix.add(row, column);
  }

  /** The counts of the facet at that index. */
  valuesOf(index: number): ValueCounts {
    return this.#values[index] ?? new ValueCounts();
  }

  /** Keys of facets with more different values than are counted apart. */
  get fullFacets(): readonly string[] {
    return this.facets.flatMap(({ key }, i) => (this.#values[i]?.isFull === true ? [key] : []));
  }
}

/** One thing that leads are counted by. */
export interface Facet {
  /** Its name for programs. */
  readonly key: string;
  /** Over its column in a table. */
  readonly title: string;
  /** A dot path; or several, of which the first one that holds a text counts. */
  readonly paths: readonly string[];
}

/** The values of one lead for each facet. */
type FacetValues = readonly (readonly string[])[];

/** Different elements of one list that are counted apart. */
const mostElements = 100;

/**
 * Reads the values of leads' fields: one a facet, or each different element of a list, as `--where` looks at lists. A
 * missing field, null and an empty list are `(none)`; an object, or a list inside of the list, is its JSON text.
 */
export class FieldValues {
  readonly #facets: readonly { readonly steps: readonly (readonly string[])[]; readonly first: number }[];
  readonly #members: ScalarMembers;
  #source: Uint8Array | undefined;
  #mayHoldResources = false;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(facets: readonly Facet[]) {
    let first = 0;
    this.#facets = facets.map(({ paths }) => {
      const facet = { steps: paths.map((path) => path.split('.')), first };
      first += paths.length;
      return facet;
    });
    this.#members = new ScalarMembers(this.#facets.flatMap(({ steps }) => steps));
  }

  /** Parses the record only where a field is no plain scalar. */
  ofBytes(record: RecordBytes): FacetValues {
    // Views are made only where they are needed: a million of them cost as much as all else.
    const json = this.#bufferOf(record.source ?? record.bytes);
    if (this.#mayHoldResources || !this.#members.find(json, record.start ?? 0, record.end ?? json.length)) {
      return this.ofRecord(parseExact(utf8(record.bytes)));
    }
    return this.#facets.map(({ steps, first }) => {
      if (steps.length === 1) return [textOf(this.#scalar(json, first))];
      for (let i = first; i < first + steps.length; i += 1) {
        const value = this.#scalar(json, i);
        if (typeof value === 'string') return [value];
      }
      return none;
    });
  }

  ofRecord(record: Json): FacetValues {
    return this.#facets.map(({ steps }) => {
      const [path = []] = steps;
      if (steps.length === 1) return valuesOf(fieldAt(record, path));
      const text = steps.map((one) => fieldAt(record, one)).find((field) => typeof field === 'string');
      return text === undefined ? none : [text];
    });
  }

  #scalar(json: Buffer, path: number): Json | undefined {
    const start = this.#members.starts[path] ?? 0;
    if (start === 0) return undefined;
    const end = this.#members.ends[path] ?? 0;
    if (json[start] !== quote) return parseExact(json.toString('utf8', start, end));
    const text = json.toString('utf8', start + 1, end - 1);
    return text.includes('\\') ? parseExact(`"${text}"`) : text;
  }

  /** Many records are in one source. */
  #bufferOf(source: Uint8Array): Buffer {
    if (this.#source !== source) {
      this.#source = source;
      this.#buffer = bufferOf(source);
      this.#mayHoldResources = mayHoldResources(this.#buffer);
    }
    return this.#buffer;
  }
}

const none = [noValue];

/** In characters. Of objects and nested lists only those are counted that somebody may want to read. */
const longestJson = 10_000;

function valuesOf(field: Json | undefined): readonly string[] {
  if (!Array.isArray(field)) return [textOf(field)];
  const values = new Set<string>();
  for (const element of field as readonly Json[]) {
    values.add(values.size < mostElements ? textOf(element) : otherValues);
  }
  return values.size === 0 ? none : [...values];
}

function textOf(field: Json | undefined): string {
  if (field === undefined || field === null) return noValue;
  if (typeof field === 'string') return field;
  try {
    const json = JSON.stringify(field);
    return json.length > longestJson ? otherValues : json;
  } catch (error) {
    // Thousands of levels can be parsed, and are too many to be written again.
    if (error instanceof RangeError) return otherValues;
    throw error;
  }
}
