import type { Writable } from 'node:stream';
import { write } from '../stdout.ts';
import type { ByteSink, RecordFormat, RecordWriter, WriterOptions } from './record-types.ts';

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

export function streamSink(stream: Writable): ByteSink {
  // A file descriptor has written the bytes when it calls back; a stream within the process may still hold
  // them.
  const stableBytes =
    'fd' in stream ? (bytes: Uint8Array) => bytes : (bytes: Uint8Array) => Buffer.from(bytes);
  return { write: (bytes) => write(stream, stableBytes(bytes)), end: () => Promise.resolve() };
}
