import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink, RecordFormat, RecordWriter } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';

/** A writer in the output's form; with `--gzip` its bytes are compressed on their way to the sink. */
export async function openWriter(
  sink: ByteSink,
  { format, gzip, fields }: { format: RecordFormat; gzip: boolean; fields?: readonly string[] | undefined },
  terminal = false,
): Promise<RecordWriter> {
  return recordWriter(format, gzip ? gzipSink(sink) : sink, { fields, terminal });
}
