import type { Writable } from 'node:stream';
import type { Output } from '../../host.ts';
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

/** Writes to stdout; for a terminal, characters that could drive it are escaped. */
export const stdoutWriter = (
  format: RecordFormat,
  stdout: Output,
  options: WriterOptions = {},
): Promise<RecordWriter> =>
  recordWriter(format, streamSink(stdout), { ...options, terminal: stdout.isTTY === true });

/** Writes objects to stdout; `columns` are those of CSV. */
export async function objectWriter(format: RecordFormat, stdout: Output, columns?: readonly string[]) {
  const writer = await stdoutWriter(format, stdout, { columns });
  return {
    write: (record: object) => writer.write([{ bytes: Buffer.from(JSON.stringify(record)) }]),
    end: () => writer.end(),
  };
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
