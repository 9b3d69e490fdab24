import { Coalescer } from './coalesce.ts';
import { pickFields } from './pick.ts';
import type { ByteSink, RecordBytes, RecordWriter, WriterOptions } from './records.ts';
import { escapeJson } from './scrub.ts';

const newline = 0x0a;

/** One record a line, in the sender's own bytes. */
export function ndjsonWriter(sink: ByteSink, options: WriterOptions = {}): RecordWriter {
  const out = new Coalescer(sink);
  const draw = drawRecord(options);
  return {
    async write(leads) {
      for (const lead of leads) {
        const bytes = draw === undefined ? lead.bytes : draw(lead);
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

/** How a record's bytes are changed before they are written; undefined when they are not. */
export function drawRecord({
  fields,
  terminal = false,
}: WriterOptions): ((lead: RecordBytes) => Uint8Array) | undefined {
  if (fields === undefined && !terminal) return undefined;
  const pick = fields === undefined ? (json: string) => json : pickFields(fields);
  const escape = terminal ? escapeJson : (json: string) => json;
  return (lead) => Buffer.from(escape(pick(Buffer.from(lead.bytes).toString('utf8'))));
}
