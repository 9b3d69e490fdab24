import { rm } from 'node:fs/promises';
import { UsageError } from '../../../errors.ts';
import { linesOf } from '../../../files/lines.ts';
import { PartialFile } from '../../../files/partial.ts';
import { Columns } from '../../../output/records/csv.ts';
import { gzipSink } from '../../../output/records/gzip.ts';
import type { ByteSink } from '../../../output/records/record-types.ts';
import { recordWriter } from '../../../output/records/record-writer.ts';
import type { ExportOptions } from '../options.ts';
import type { FilePaths } from './file-paths.ts';

export interface Converted {
  /** On disk, and open. */
  readonly file: PartialFile;
  /** Of a CSV file. */
  readonly columns: readonly string[] | null;
}

/**
 * Writes the partial file's records in the output's form into a file of its own. `header` are the columns of a CSV file
 * that it will be appended to: throws a `UsageError` when the records have others.
 */
export async function convert(
  from: PartialFile,
  paths: FilePaths,
  options: ExportOptions,
  header: readonly string[] = [],
): Promise<Converted> {
  const isCsv = options.format === 'csv';
  const columns = options.fields ?? (isCsv ? await columnsOf(from, header, paths.file) : undefined);
  const file = await PartialFile.create(paths.drawn, paths.mode);
  try {
    const sink: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
    const compressed = options.gzip ? gzipSink(sink) : sink;
    const repeated = isCsv && header.length > 0 ? await headerLength(columns ?? []) : 0;
    const records = await recordWriter(options.format, without(repeated, compressed), {
      fields: columns,
      escapeFormulas: options.escape,
      byteOrderMark: options.bom && repeated === 0,
    });
    for await (const lines of linesOf(from.handle)) await records.write(lines);
    await records.end();
    await file.sync();
    return { file, columns: isCsv ? (columns ?? null) : null };
  } catch (error) {
    await file.close();
    await rm(file.path, { force: true });
    throw error;
  }
}

async function columnsOf(
  from: PartialFile,
  header: readonly string[],
  path: string,
): Promise<readonly string[]> {
  const columns = new Columns();
  for await (const lines of linesOf(from.handle)) for (const { bytes } of lines) columns.learn(bytes);
  if (header.length === 0) return columns.paths;
  const added = columns.paths.filter((column) => !header.includes(column));
  if (added.length === 0) return header;
  throw new UsageError(
    `cannot append to ${path}: the new leads have fields that it has no column for: ${added.join(', ')}`,
    {
      hint: 'name another file; --fields sets the columns once and for all',
    },
  );
}

/** Bytes of the header line, as the writer itself writes it. */
async function headerLength(columns: readonly string[]): Promise<number> {
  let length = 0;
  const count: ByteSink = {
    write: (bytes) => Promise.resolve(void (length += bytes.length)),
    end: () => Promise.resolve(),
  };
  await (await recordWriter('csv', count, { fields: columns })).end();
  return length;
}

/** The same sink without the first bytes. */
function without(skipped: number, sink: ByteSink): ByteSink {
  let left = skipped;
  return {
    async write(bytes) {
      const rest = bytes.subarray(Math.min(left, bytes.length));
      left -= bytes.length - rest.length;
      if (rest.length > 0) await sink.write(rest);
    },
    end: () => sink.end(),
  };
}
