import type { PartialFile } from '../../files/partial.ts';
import { gzipSink } from '../../output/gzip.ts';
import { type ByteSink, type RecordFormat, type RecordWriter, recordWriter } from '../../output/records.ts';

/** The sink's bytes end here; with `--gzip` they are compressed on the way. */
export async function openWriter(
  sink: ByteSink,
  { format, gzip, fields }: { format: RecordFormat; gzip: boolean; fields?: readonly string[] | undefined },
  terminal = false,
): Promise<RecordWriter> {
  return recordWriter(format, gzip ? gzipSink(sink) : sink, { fields, terminal });
}

export interface PartialWriter {
  readonly records: RecordWriter;
  /** Length of the file up to which it could be kept and gone on from, after a page; undefined: not just now. */
  readonly mark: () => Promise<number | undefined>;
}

/** NDJSON into the partial file, compressed or not. */
export async function partialWriter(file: PartialFile, gzip: boolean): Promise<PartialWriter> {
  const plain: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
  const compressed = gzip ? gzipSink(plain) : undefined;
  const records = await recordWriter('ndjson', compressed ?? plain);
  return {
    records,
    async mark() {
      await records.flush();
      return compressed === undefined || (await compressed.cut()) ? file.size : undefined;
    },
  };
}
