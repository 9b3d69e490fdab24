import { bufferOf, quote, utf8 } from '../json/bytes.ts';
import { type Json, parseExact } from '../json/exact.ts';
import { mayHoldResources } from '../json/resource.ts';
import { ScalarMembers } from '../json/scalar-members.ts';
import { fieldAt } from '../lead/raw-lead.ts';
import type { RecordBytes } from '../output/records/record-types.ts';

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
