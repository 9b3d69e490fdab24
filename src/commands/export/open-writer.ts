import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink, RecordWriter } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import type { ExportOptions } from './options.ts';

type FormOptions = Pick<ExportOptions, 'format' | 'gzip' | 'fields' | 'escape' | 'bom'>;

/** A writer in the output's form; with `--gzip` its bytes are compressed on their way to the sink. */
export async function openWriter(
  sink: ByteSink,
  { format, gzip, fields, escape, bom }: FormOptions,
  terminal = false,
): Promise<RecordWriter> {
  const options = { fields, terminal, escapeFormulas: escape, byteOrderMark: bom };
  return recordWriter(format, gzip ? gzipSink(sink) : sink, options);
}
