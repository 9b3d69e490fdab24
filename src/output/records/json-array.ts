import { WriteBuffer } from './write-buffer.ts';
import { recordTransform } from './ndjson.ts';
import type { ByteSink, RecordWriter, WriterOptions } from './record-types.ts';

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
