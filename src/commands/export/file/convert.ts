import { rm } from 'node:fs/promises';
import { linesOf } from '../../../files/lines.ts';
import { PartialFile } from '../../../files/partial.ts';
import { renameDurably } from '../../../files/replace.ts';
import { withOutputErrors } from '../../../files/output-error.ts';
import { Columns } from '../../../output/records/csv.ts';
import type { ByteSink } from '../../../output/records/record-types.ts';
import type { FilePaths } from './file-paths.ts';
import type { ExportOptions } from '../options.ts';
import { openWriter } from '../open-writer.ts';

/** Writes the partial file's records in the output's form, under the output's name. */
export async function convert(from: PartialFile, paths: FilePaths, options: ExportOptions): Promise<void> {
  const fields = options.fields ?? (options.format === 'csv' ? await columnsOf(from) : undefined);
  const converted = await PartialFile.create(`${paths.file}.drawn`, paths.mode);
  try {
    const sink: ByteSink = { write: (bytes) => converted.write(bytes), end: () => Promise.resolve() };
    const records = await openWriter(sink, { ...options, fields });
    for await (const lines of linesOf(from.handle)) await records.write(lines);
    await records.end();
    await converted.sync();
  } catch (error) {
    await rm(converted.path, { force: true });
    throw error;
  } finally {
    await converted.close();
  }
  await withOutputErrors(paths.file, () => renameDurably(converted.path, paths.file));
}

async function columnsOf(from: PartialFile): Promise<readonly string[]> {
  const columns = new Columns();
  for await (const lines of linesOf(from.handle)) for (const { bytes } of lines) columns.learn(bytes);
  return columns.paths;
}
