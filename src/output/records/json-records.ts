import { utf8 } from '../../json/bytes.ts';
import { escapeJson } from '../terminal/terminal.ts';
import { FieldPaths, visitMembers } from './json-members.ts';
import type { ByteSink, RecordBytes, RecordWriter, WriterOptions } from './record-types.ts';

const newline = 0x0a;

/**
 * Writes each record on a line. Adjacent records that stay as they are get copied together; a record that is larger than the buffer
 * is written without being copied.
 */
export function ndjsonWriter(sink: ByteSink, options: WriterOptions = {}): RecordWriter {
  const out = new WriteBuffer(sink);
  const transform = recordTransform(options);
  return {
    async write(leads) {
      for (let i = 0; i < leads.length; i += 1) {
        const run = transform === undefined ? adjacentRecords(leads, i, out.room) : undefined;
        if (run !== undefined) {
          out.addRun(run, newline);
          i += run.ends.length - 1;
          continue;
        }
        const lead = leads[i] as RecordBytes;
        const bytes = transform === undefined ? lead.bytes : transform(lead);
        if (!out.fits(bytes.length + 1)) await out.flush();
        // `add` needs no promise, which would cost more than the copy; only a record larger than the buffer takes the other way.
        if (out.fits(bytes.length + 1)) {
          out.add(bytes, newline);
        } else {
          await out.addWithFlush(bytes);
          await out.addWithFlush(Uint8Array.of(newline));
        }
      }
    },
    flush: () => out.flush(),
    async end() {
      await out.flush();
      await sink.end();
    },
  };
}

/** Records that are adjacent in `source`, one byte apart: they are copied at once, and the byte at each end is overwritten. */
interface Run {
  readonly source: Uint8Array;
  readonly start: number;
  readonly ends: readonly number[];
}

/** Returns the run that begins with the record `first`, as much of it as fits into `room` bytes. */
function adjacentRecords(leads: readonly RecordBytes[], first: number, room: number): Run | undefined {
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

/** Writes one JSON array, each record on a line. */
export function jsonWriter(sink: ByteSink, options: WriterOptions = {}): RecordWriter {
  const out = new WriteBuffer(sink);
  const transform = recordTransform(options);
  let isEmpty = true;
  return {
    async write(leads) {
      for (const lead of leads) {
        await out.addWithFlush(Buffer.from(isEmpty ? '[\n' : ',\n'));
        await out.addWithFlush(transform === undefined ? lead.bytes : transform(lead));
        isEmpty = false;
      }
    },
    flush: () => out.flush(),
    async end() {
      await out.addWithFlush(Buffer.from(isEmpty ? '[]\n' : '\n]\n'));
      await out.flush();
      await sink.end();
    },
  };
}

/** Returns a function that reduces a record to the chosen fields, and escapes it for a terminal; undefined where it stays as it is. */
function recordTransform({
  fields,
  terminal = false,
}: WriterOptions): ((lead: RecordBytes) => Uint8Array) | undefined {
  if (fields === undefined && !terminal) return undefined;
  const project = fields === undefined ? (json: string) => json : projectFields(fields);
  const escape = terminal ? escapeJson : (json: string) => json;
  return (lead) => Buffer.from(escape(project(utf8(lead.bytes))));
}

/**
 * Reduces a record to some fields, in their order and in the record's own shape. Values keep their text, and missing fields
 * are omitted. An element of an array keeps its index, with null for the elements before it.
 */
function projectFields(fields: readonly string[]): (json: string) => string {
  const root: Branch = { path: '', children: new Map() };
  for (const field of fields) addBranch(root, field.split('.'));
  const fieldPaths = new FieldPaths([...fields, ...pathsBeforeNumbers(fields)]);
  const wantedPaths = new Set(fields);
  return (json) => {
    const values = new Map<string, string>();
    const arrays = new Set<string>();
    visitMembers(json, fieldPaths, (path, raw) => {
      if (wantedPaths.has(path)) values.set(path, raw);
      else if (raw.startsWith('[')) arrays.add(path);
    });
    return projectedJson(root, { values, arrays }) ?? '{}';
  };
}

/** The paths of what holds a numbered field: for `tags.0` it is `tags`, which may be an array or an object. */
const pathsBeforeNumbers = (fields: readonly string[]): string[] =>
  fields.flatMap((field) => [...field.matchAll(/\.\d+(?=\.|$)/g)].map(({ index }) => field.slice(0, index)));

/** The names of the fields as a tree: a branch without children is a field, or else it is an object or an array. */
interface Branch {
  readonly path: string;
  readonly children: Map<string, Branch>;
}

function addBranch(parent: Branch, [name, ...further]: readonly string[]): void {
  if (name === undefined) return;
  const path = parent.path === '' ? name : `${parent.path}.${name}`;
  const child = parent.children.get(name) ?? { path, children: new Map<string, Branch>() };
  parent.children.set(name, child);
  addBranch(child, further);
}

/** The fields of one record: the JSON texts by path, and which of the paths are arrays. */
interface FieldValues {
  readonly values: ReadonlyMap<string, string>;
  readonly arrays: ReadonlySet<string>;
}

function projectedJson({ path, children }: Branch, record: FieldValues): string | undefined {
  const whole = record.values.get(path);
  if (whole !== undefined || children.size === 0) return whole;
  const members = [...children].flatMap(([name, child]) => {
    const value = projectedJson(child, record);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (members.length === 0) return undefined;
  if (!record.arrays.has(path)) {
    return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
  }
  const elements: (string | undefined)[] = [];
  for (const [index, value] of members) elements[Number(index)] = value;
  return `[${Array.from(elements, (element) => element ?? 'null').join(',')}]`;
}

const capacity = 256 * 1024;

/** Collects small pieces into large writes, with constant memory. */
export class WriteBuffer {
  readonly #sink: ByteSink;
  readonly #buffer = Buffer.allocUnsafe(capacity);
  #used = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  get room(): number {
    return capacity - this.#used;
  }

  fits(length: number): boolean {
    return length <= this.room;
  }

  /** Adds a piece and a byte after it. Together they must fit. */
  add(bytes: Uint8Array, terminator: number): void {
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
    this.#buffer[this.#used] = terminator;
    this.#used += 1;
  }

  addRun({ source, start, ends }: Run, terminator: number): void {
    const shift = this.#used - start;
    const lastEnd = ends.at(-1) ?? start;
    this.#buffer.set(source.subarray(start, lastEnd), this.#used);
    for (const end of ends) this.#buffer[end + shift] = terminator;
    this.#used += lastEnd - start + 1;
  }

  async addWithFlush(bytes: Uint8Array): Promise<void> {
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
