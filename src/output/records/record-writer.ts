import type { Writable } from 'node:stream';
import { write } from '../stdout.ts';
import type { ByteSink, RecordFormat, RecordWriter, WriterOptions } from './record-types.ts';

/** Returns the writer of a format, whose code is loaded for it alone. */
export async function recordWriter(
  format: RecordFormat,
  sink: ByteSink,
  options: WriterOptions = {},
): Promise<RecordWriter> {
  if (format === 'csv') return (await import('./csv.ts')).csvWriter(sink, options);
  if (format === 'xlsx') return (await import('./xlsx.ts')).xlsxWriter(sink, options);
  if (format === 'json') return (await import('./json-records.ts')).jsonWriter(sink, options);
  return (await import('./json-records.ts')).ndjsonWriter(sink, options);
}

/**
 * Writes to a stream, which `end` leaves open. A stream with a descriptor has written the bytes when it calls back, and its
 * caller may reuse the memory. A stream within the process may still hold them, and gets a copy.
 */
export function streamSink(stream: Writable): ByteSink {
  const keepsNothing = 'fd' in stream;
  return {
    write: (bytes) => write(stream, keepsNothing ? bytes : Buffer.from(bytes)),
    end: () => Promise.resolve(),
  };
}
