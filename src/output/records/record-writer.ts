import type { Writable } from 'node:stream';
import { write } from '../stdout.ts';
import type { ByteSink, RecordFormat, RecordWriter, WriterOptions } from './record-types.ts';

/** The writer for a form; only that form's code is loaded. */
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

/** A stream such as stdout as a sink; it stays open. */
export function streamSink(stream: Writable): ByteSink {
  // A descriptor has taken the bytes when it calls back; a stream within the process may still hold on to them.
  const own = 'fd' in stream ? (bytes: Uint8Array) => bytes : (bytes: Uint8Array) => Buffer.from(bytes);
  return { write: (bytes) => write(stream, own(bytes)), end: () => Promise.resolve() };
}
