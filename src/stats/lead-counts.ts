import { bufferOf, quote, utf8 } from '../json/bytes.ts';
import { type Json, parseExact } from '../json/exact.ts';
import { mayHoldResources } from '../json/resource.ts';
import { ScalarMembers } from '../json/scalar-members.ts';
import { FieldPresence } from '../lead/filter.ts';
import { fieldAt, type RawLead } from '../lead/raw-lead.ts';
import type { RecordBytes } from '../output/records/record-types.ts';
import { TimeCounts } from './time-series.ts';

export interface LeadGrouping {
  readonly facets: readonly Facet[];
  /** The facets that were asked for by their paths, which may be misspelt. */
  readonly namedFacets: readonly string[];
  readonly zone: string;
}

export class LeadCounts {
  readonly times: TimeCounts;
  readonly namedFields: FieldPresence;
  readonly #fieldValues: FieldValues;
  readonly #byFacet: readonly { readonly facet: Facet; readonly counts: ValueCounts }[];
  total = 0;
  /** Leads whose time is not known; the total includes them. */
  undated = 0;

  constructor({ facets, namedFacets, zone }: LeadGrouping) {
    this.times = new TimeCounts(zone);
    this.namedFields = new FieldPresence(namedFacets);
    this.#fieldValues = new FieldValues(facets);
    this.#byFacet = facets.map((facet) => ({ facet, counts: new ValueCounts() }));
  }

  add(lead: RawLead, time: number | undefined): void {
    this.total += 1;
    if (time === undefined) this.undated += 1;
    else this.times.add(time);
    this.namedFields.examineLead(lead);
    const valuesByFacet = this.#fieldValues.ofBytes(lead);
    for (const [i, { counts }] of this.#byFacet.entries()) {
      for (const value of valuesByFacet[i] ?? []) counts.add(value);
    }
  }

  /** The `top` most frequent values of each facet with their counts, then all others as `(other)`. */
  ranked(top: number) {
    return this.#byFacet.map(({ facet: { key, title }, counts }) => {
      const { listed, remaining } = counts.ranked(top);
      const rows = remaining === 0 ? listed : [...listed, [otherValues, remaining] as const];
      return { key, title, rows };
    });
  }

  get keysOfFullFacets(): readonly string[] {
    return this.#byFacet.filter(({ counts }) => counts.isFull).map(({ facet }) => facet.key);
  }
}

export const otherValues = '(other)';

/** At most so many different values of a field are counted apart, and at most so many UTF-16 units of text. */
export const mostValues = 100_000;
export const mostText = 16 * 1024 * 1024;

/** Counts the values of one field in bounded memory: once that is full, new values count as other ones. */
export class ValueCounts {
  readonly #counts = new Map<string, { count: number }>();
  #textLength = 0;
  #countWhenFull = 0;

  add(value: string): void {
    const entry = this.#counts.get(value);
    if (entry !== undefined) entry.count += 1;
    else if (this.#counts.size < mostValues && this.#textLength + value.length <= mostText) {
      this.#textLength += value.length;
      this.#counts.set(detached(value), { count: 1 });
    } else this.#countWhenFull += 1;
  }

  get isFull(): boolean {
    return this.#countWhenFull > 0;
  }

  /** Ranks values with their counts, the most frequent first; equally frequent ones in the order of their UTF-16 units. */
  ranked(top: number) {
    const ranked = [...this.#counts]
      .filter(([value]) => value !== otherValues)
      .map(([value, { count }]) => [value, count] as const)
      .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
    const literallyOther = this.#counts.get(otherValues)?.count ?? 0;
    const unranked = this.#countWhenFull + literallyOther;
    const remaining = ranked.slice(top).reduce((sum, [, count]) => sum + count, unranked);
    return { listed: ranked.slice(0, top), remaining };
  }
}

/** Copies a text: a part of a longer text would keep all of that in memory. */
const detached = (value: string): string => Buffer.from(value, 'utf16le').toString('utf16le');

/** A field by whose values leads are grouped. Of several dotted paths, the first one that holds a text counts. */
export interface Facet {
  readonly key: string;
  readonly title: string;
  readonly paths: readonly string[];
}

export const noValue = '(none)';

/**
 * Reads the values of leads' fields. Each facet has one value, or each different element of a list, as `--where` looks at lists.
 * A missing field, null and an empty list are `(none)`; an object, or a list in a list, is `(object)`. Most records are read from
 * their bytes; one in which a field is no scalar, or is an attribute of JSON:API, is parsed.
 */
export class FieldValues {
  readonly #pathsByFacet: readonly (readonly (readonly string[])[])[];
  /** Finds the paths of all facets in one pass, and numbers them in their order. */
  readonly #members: ScalarMembers;
  /** The memory of the last record, which the next one mostly shares. */
  #source: Uint8Array | undefined;
  #sourceBuffer: Buffer = Buffer.alloc(0);
  #mayHoldResources = false;

  constructor(facets: readonly Facet[]) {
    this.#pathsByFacet = facets.map(({ paths }) => paths.map((path) => path.split('.')));
    this.#members = new ScalarMembers(this.#pathsByFacet.flat());
  }

  /** Returns the values of each facet. A view of each record would cost as much as all else: its shared memory is read. */
  ofBytes(record: RecordBytes): readonly (readonly string[])[] {
    const source = record.source ?? record.bytes;
    if (source !== this.#source) this.#learnSource(source);
    const json = this.#sourceBuffer;
    if (this.#mayHoldResources || !this.#members.find(json, record.start ?? 0, record.end ?? json.length)) {
      return this.ofRecord(parseExact(utf8(record.bytes)));
    }
    let nextPath = 0;
    return this.#pathsByFacet.map(({ length }) => {
      const firstPath = nextPath;
      nextPath += length;
      if (length === 1) return valuesOf([this.#foundScalar(json, firstPath)]);
      for (let path = firstPath; path < nextPath; path += 1) {
        const value = this.#foundScalar(json, path);
        if (typeof value === 'string') return [value];
      }
      return [noValue];
    });
  }

  ofRecord(record: Json): readonly (readonly string[])[] {
    return this.#pathsByFacet.map((paths) => valuesOf(paths.map((path) => fieldAt(record, path))));
  }

  #foundScalar(json: Buffer, pathNumber: number): Json | undefined {
    const start = this.#members.starts[pathNumber] ?? 0;
    if (start === 0) return undefined;
    const end = this.#members.ends[pathNumber] ?? 0;
    if (json[start] !== quote) return parseExact(json.toString('utf8', start, end));
    const text = json.toString('utf8', start + 1, end - 1);
    return text.includes('\\') ? parseExact(`"${text}"`) : text;
  }

  #learnSource(source: Uint8Array): void {
    this.#source = source;
    this.#sourceBuffer = bufferOf(source);
    this.#mayHoldResources = mayHoldResources(this.#sourceBuffer);
  }
}

/** The values of a facet, from the fields at its paths. */
function valuesOf(fields: readonly (Json | undefined)[]): readonly string[] {
  const field = fields.length === 1 ? fields[0] : fields.find((value) => typeof value === 'string');
  if (!Array.isArray(field)) return [textOf(field)];
  return field.length === 0 ? [noValue] : [...new Set((field as readonly Json[]).map(textOf))];
}

function textOf(field: Json | undefined): string {
  if (field === undefined || field === null) return noValue;
  return typeof field === 'object' ? '(object)' : String(field);
}
