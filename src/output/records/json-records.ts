import { utf8 } from '../../json/bytes.ts';
import { escapeJson } from '../terminal/terminal.ts';
import { eachMember, FieldPaths } from './json-members.ts';
import type { ByteSink, RecordBytes, RecordWriter, WriterOptions } from './record-types.ts';

const newline = 0x0a;

/** One record a line, in the sender's own bytes. */
export function ndjsonWriter(sink: ByteSink, options: WriterOptions = {}): RecordWriter {
  const out = new WriteBuffer(sink);
  const transform = recordTransform(options);
  return {
    async write(leads) {
      for (let i = 0; i < leads.length; i += 1) {
        const run = transform === undefined ? runFrom(leads, i, out.room) : undefined;
        if (run !== undefined) {
          out.addRun(run.source, run.start, run.ends, newline);
          i += run.ends.length - 1;
          continue;
        }
        const lead = leads[i] as RecordBytes;
        const bytes = transform === undefined ? lead.bytes : transform(lead);
        if (!out.fits(bytes.length + 1)) {
          await out.flush();
          if (!out.fits(bytes.length + 1)) {
            await out.addAny(bytes);
            await out.addAny(Uint8Array.of(newline));
            continue;
          }
        }
        out.add(bytes, newline);
      }
    },
    flush: () => out.flush(),
    async end() {
      await out.flush();
      await sink.end();
    },
  };
}

interface Run {
  readonly source: Uint8Array;
  readonly start: number;
  /** Where each record ends. */
  readonly ends: readonly number[];
}

/** The records from `first` that lie side by side, one byte apart, as many as `room` bytes can hold. */
function runFrom(leads: readonly RecordBytes[], first: number, room: number): Run | undefined {
  const { source, start } = leads[first] as RecordBytes;
  if (source === undefined || start === undefined) return undefined;
  const ends: number[] = [];
  let next = start;
  for (let i = first; i < leads.length; i += 1) {
    const lead = leads[i] as RecordBytes;
    if (lead.source !== source || lead.start !== next || lead.end === undefined) break;
    if (lead.end + 1 - start > room) break;
    ends.push(lead.end);
    next = lead.end + 1;
  }
  return ends.length === 0 ? undefined : { source, start, ends };
}

/** How a record's bytes are changed before they are written; undefined when they are not. */
export function recordTransform({
  fields,
  terminal = false,
}: WriterOptions): ((lead: RecordBytes) => Uint8Array) | undefined {
  if (fields === undefined && !terminal) return undefined;
  const project = fields === undefined ? (json: string) => json : projectFields(fields);
  const escape = terminal ? escapeJson : (json: string) => json;
  return (lead) => Buffer.from(escape(project(utf8(lead.bytes))));
}

/** One array, a record a line, in the sender's own bytes. */
export function jsonWriter(sink: ByteSink, options: WriterOptions = {}): RecordWriter {
  const out = new WriteBuffer(sink);
  const transform = recordTransform(options);
  let separator = Buffer.from('[\n');
  return {
    async write(leads) {
      for (const lead of leads) {
        await out.addAny(separator);
        await out.addAny(transform === undefined ? lead.bytes : transform(lead));
        separator = Buffer.from(',\n');
      }
    },
    flush: () => out.flush(),
    async end() {
      await out.addAny(Buffer.from(separator[0] === 0x5b ? '[]\n' : '\n]\n'));
      await out.flush();
      await sink.end();
    },
  };
}

interface Branch {
  readonly path: string;
  readonly children: Map<string, Branch>;
}

/** What one record has of the fields: the text of each that was asked for, and which paths above one are arrays. */
interface Found {
  readonly values: ReadonlyMap<string, string>;
  readonly arrays: ReadonlySet<string>;
}

/**
 * Reduces a record to some dotted paths, in their order and in the record's own shape: values keep their own text, and
 * a path that the record does not have is left out. An element of an array keeps its index: those before it that were
 * not asked for are null.
 */
function projectFields(fields: readonly string[]): (json: string) => string {
  const root: Branch = { path: '', children: new Map() };
  for (const field of fields) addPath(root, field.split('.'));
  const asked = new FieldPaths([...fields, ...arrayPaths(fields)]);
  const wanted = new Set(fields);
  return (json) => {
    const values = new Map<string, string>();
    const arrays = new Set<string>();
    eachMember(
      json,
      (path, raw) => {
        if (wanted.has(path)) values.set(path, raw);
        else if (raw.startsWith('[')) arrays.add(path);
      },
      asked,
    );
    return render(root, { values, arrays }) ?? '{}';
  };
}

/** The paths before each index: of `tags.0` it is `tags`. */
const arrayPaths = (fields: readonly string[]): string[] =>
  fields.flatMap((field) => [...field.matchAll(/\.\d+(?=\.|$)/g)].map(({ index }) => field.slice(0, index)));

function addPath(branch: Branch, [name, ...rest]: readonly string[]): void {
  if (name === undefined) return;
  const path = branch.path === '' ? name : `${branch.path}.${name}`;
  const child = branch.children.get(name) ?? { path, children: new Map<string, Branch>() };
  branch.children.set(name, child);
  addPath(child, rest);
}

function render({ path, children }: Branch, found: Found): string | undefined {
  const whole = found.values.get(path);
  if (whole !== undefined || children.size === 0) return whole;
  const members = [...children].flatMap(([name, child]) => {
    const value = render(child, found);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (members.length === 0) return undefined;
  if (!found.arrays.has(path)) {
    return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
  }
  const elements: (string | undefined)[] = [];
  for (const [index, value] of members) elements[Number(index)] = value;
  return `[${Array.from(elements, (element) => element ?? 'null').join(',')}]`;
}

const capacity = 256 * 1024;

/** Gathers small pieces into large writes; its memory is the same at any number of records. */
export class WriteBuffer {
  readonly #sink: ByteSink;
  readonly #buffer = Buffer.allocUnsafe(capacity);
  #used = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Whether a piece of that length fits; otherwise `flush` first. */
  fits(length: number): boolean {
    return this.#used + length <= capacity;
  }

  /** Adds a piece that `fits`, and one byte after it. */
  add(bytes: Uint8Array, terminator: number): void {
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
    this.#buffer[this.#used] = terminator;
    this.#used += 1;
  }

  /** Bytes that still fit. */
  get room(): number {
    return capacity - this.#used;
  }

  /** Adds records that lie side by side, from `start`; the byte after each of the `ends` becomes `terminator`. */
  addRun(source: Uint8Array, start: number, ends: readonly number[], terminator: number): void {
    const shift = this.#used - start;
    const end = ends.at(-1) ?? start;
    this.#buffer.set(source.subarray(start, end), this.#used);
    for (const at of ends) this.#buffer[at + shift] = terminator;
    this.#used += end - start + 1;
  }

  /** Adds a piece of any length. */
  async addAny(bytes: Uint8Array): Promise<void> {
    if (!this.fits(bytes.length)) await this.flush();
    if (bytes.length > capacity) return this.#sink.write(bytes);
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  async flush(): Promise<void> {
    const used = this.#used;
    if (used === 0) return;
    this.#used = 0;
    await this.#sink.write(this.#buffer.subarray(0, used));
  }
}
