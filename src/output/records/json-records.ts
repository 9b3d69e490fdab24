import { utf8 } from '../../json/bytes.ts';
import { escapeJson } from '../terminal/terminal.ts';
import { projectFields } from './json-members.ts';
import type { ByteSink, RecordBytes, RecordWriter, WriterOptions } from './record-types.ts';

const newline = 0x0a;

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
  readonly ends: readonly number[];
}

/**
 * Returns the records from `first` on that are adjacent in memory, one byte apart, as many as fit into `room`
 * bytes.
 */
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

/** Returns a function that changes a record's bytes before they are written; undefined where they stay. */
export function recordTransform({
  fields,
  terminal = false,
}: WriterOptions): ((lead: RecordBytes) => Uint8Array) | undefined {
  if (fields === undefined && !terminal) return undefined;
  const project = fields === undefined ? (json: string) => json : projectFields(fields);
  const escape = terminal ? escapeJson : (json: string) => json;
  return (lead) => Buffer.from(escape(project(utf8(lead.bytes))));
}

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

const capacity = 256 * 1024;

/** Collects small pieces into large writes, with constant memory. */
export class WriteBuffer {
  readonly #sink: ByteSink;
  readonly #buffer = Buffer.allocUnsafe(capacity);
  #used = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Whether a piece of that length fits; otherwise call `flush` first. */
  fits(length: number): boolean {
    return this.#used + length <= capacity;
  }

  /** Adds a piece that `fits`, and a byte after it. */
  add(bytes: Uint8Array, terminator: number): void {
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
    this.#buffer[this.#used] = terminator;
    this.#used += 1;
  }

  get room(): number {
    return capacity - this.#used;
  }

  addRun(source: Uint8Array, start: number, ends: readonly number[], terminator: number): void {
    const shift = this.#used - start;
    const end = ends.at(-1) ?? start;
    this.#buffer.set(source.subarray(start, end), this.#used);
    for (const end of ends) this.#buffer[end + shift] = terminator;
    this.#used += end - start + 1;
  }

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
