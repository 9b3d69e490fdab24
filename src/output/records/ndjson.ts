import { WriteBuffer } from './write-buffer.ts';
import { projectFields } from './project-fields.ts';
import type { ByteSink, RecordBytes, RecordWriter, WriterOptions } from './record-types.ts';
import { escapeJson } from '../sanitize.ts';
import { utf8 } from '../../json/bytes.ts';

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
