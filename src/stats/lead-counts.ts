import { bufferOf, quote, utf8 } from '../json/bytes.ts';
import { type Json, parseExact } from '../json/exact.ts';
import { mayHoldResources } from '../json/resource.ts';
import { ScalarMembers } from '../json/scalar-members.ts';
import { fieldAt } from '../lead/raw-lead.ts';
import type { RecordBytes } from '../output/records/record-types.ts';
import { TimeCounts } from './time-series.ts';
import { noValue, otherValues, ValueCounts } from './value-counts.ts';

export class LeadCounts {
  readonly times: TimeCounts;
  readonly #facets: readonly { readonly facet: Facet; readonly counts: ValueCounts }[];
  total = 0;
  /** Leads whose time is not known; the total includes them. */
  undated = 0;

  constructor(facets: readonly Facet[], zone?: string) {
    this.times = new TimeCounts(zone);
    this.#facets = facets.map((facet) => ({ facet, counts: new ValueCounts() }));
  }

  add(values: FacetValues, time: number | undefined): void {
    this.total += 1;
    if (time === undefined) this.undated += 1;
    else this.times.add(time);
    for (const [i, { counts }] of this.#facets.entries()) {
      for (const value of values[i] ?? []) counts.add(value);
    }
  }

  /** The `top` most frequent values of each facet, then all others as `(other)`. */
  ranked(top: number) {
    return this.#facets.map(({ facet: { key, title }, counts }) => {
      const { values, remaining } = counts.ranked(top);
      const rows = remaining === 0 ? values : [...values, [otherValues, remaining] as const];
      return { key, title, rows };
    });
  }

  get fullFacets(): readonly string[] {
    return this.#facets.filter(({ counts }) => counts.isFull).map(({ facet }) => facet.key);
  }
}

export interface Facet {
  readonly key: string;
  readonly title: string;
  /** A dot path; of several the first one that holds a text counts. */
  readonly paths: readonly string[];
}

type FacetValues = readonly (readonly string[])[];

/**
 * Reads the values of leads' fields: one a facet, or each different element of a list, as `--where` looks at lists. A
 * missing field, null and an empty list are `(none)`; an object, or a list in a list, is `(object)`.
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
      const text = steps
        .map((candidate) => fieldAt(record, candidate))
        .find((field) => typeof field === 'string');
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

function valuesOf(field: Json | undefined): readonly string[] {
  if (!Array.isArray(field)) return [textOf(field)];
  return field.length === 0 ? none : [...new Set((field as readonly Json[]).map(textOf))];
}

const textOf = (field: Json | undefined): string =>
  field === undefined || field === null ? noValue : typeof field === 'object' ? '(object)' : String(field);
