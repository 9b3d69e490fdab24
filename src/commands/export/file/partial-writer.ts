import type { PartialFile } from '../../../files/partial.ts';
import { gzipSink } from '../../../output/records/gzip.ts';
import { recordWriter } from '../../../output/records/record-writer.ts';
import type { ByteSink, RecordWriter } from '../../../output/records/record-types.ts';

export interface PartialWriter {
  readonly records: RecordWriter;
  /** After a page: the length of the file up to which an export could be resumed; undefined: not at this page. */
  readonly checkpointLength: () => Promise<number | undefined>;
}

/** NDJSON into the partial file, compressed or not. */
export async function partialWriter(file: PartialFile, gzip: boolean): Promise<PartialWriter> {
  const plain: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
  const compressed = gzip ? gzipSink(plain) : undefined;
  const records = await recordWriter('ndjson', compressed ?? plain);
  return {
    records,
    async checkpointLength() {
      await records.flush();
      return compressed === undefined || (await compressed.cut()) ? file.size : undefined;
    },
  };
}
