import type { Output } from '../context.ts';
import { write } from './sink.ts';

/** A lead as the writers need it: its own compact bytes. */
export interface RecordBytes {
  readonly bytes: Uint8Array;
  /** Where `bytes` lie, if they are part of something larger: neighbours are then copied at once. */
  readonly source?: Uint8Array;
  readonly start?: number;
  readonly end?: number;
}

/** Draws leads in one form of data. All of it may be held back until `flush` or `end`. */
export interface RecordWriter {
  write(leads: readonly RecordBytes[]): Promise<void>;
  /** Hands on what was held back, as far as the form allows: for a reader that is waiting. */
  flush(): Promise<void>;
  /** Completes the form. The sink below is flushed and stays open. */
  end(): Promise<void>;
}

/** Where bytes go. `write` has taken them when it resolves: the caller may reuse the memory. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
  /** Completes what was written, such as a compressed stream. */
  end(): Promise<void>;
}

export const recordFormats = ['ndjson', 'csv', 'json'] as const;
export type RecordFormat = (typeof recordFormats)[number];

export interface WriterOptions {
  /** Dotted paths: only these, in this order. */
  readonly fields?: readonly string[] | undefined;
  /** The bytes end on a terminal: what could drive it is escaped. */
  readonly terminal?: boolean | undefined;
}

/** The writer for a form; only that form's code is loaded. */
export async function recordWriter(
  format: RecordFormat,
  sink: ByteSink,
  options: WriterOptions = {},
): Promise<RecordWriter> {
  if (format === 'csv') return (await import('./csv.ts')).csvWriter(sink, options);
  if (format === 'json') return (await import('./json.ts')).jsonWriter(sink, options);
  return (await import('./ndjson.ts')).ndjsonWriter(sink, options);
}

/** A stream such as stdout as a sink; it stays open. */
export function streamSink(stream: Output): ByteSink {
  // A descriptor has taken the bytes when it calls back; a stream within the process may still hold on to them.
  const own = 'fd' in stream ? (bytes: Uint8Array) => bytes : (bytes: Uint8Array) => Buffer.from(bytes);
  return { write: (bytes) => write(stream, own(bytes)), end: () => Promise.resolve() };
}
