import { stat } from 'node:fs/promises';
import { UsageError } from '../../errors.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { ifMissing } from '../../files/read.ts';
import { leadColumns } from '../../output/records/csv.ts';
import type { Bookmark, OutputFile } from './bookmark.ts';
import type { ExportOptions } from './command.ts';

const replaceHint = 'name another file, or use --replace to keep only what is new';

/**
 * Finds the file that the last run with this bookmark wrote, for this run to append to. Returns undefined for a path with no
 * file, or with an empty one. Throws a `UsageError` for a file that has another length or form than the bookmark says.
 */
export async function findKnownFile(
  path: string,
  options: ExportOptions,
  bookmark: Bookmark | undefined,
): Promise<OutputFile | undefined> {
  const size = await sizeOf(path);
  if (size === undefined || size === 0) return undefined;
  if (bookmark === undefined) throw unknownFile(path, 'there is no bookmark yet');
  const { file } = bookmark;
  if (file === undefined) throw unknownFile(path, 'the last run with this bookmark wrote to another place');
  if (file.bytes !== size) {
    throw unknownFile(path, `it has ${size} bytes, and had ${file.bytes} when the bookmark was written`);
  }
  rejectOtherForm(path, options, file);
  return file;
}

export const changedMeanwhile = (path: string): UsageError =>
  new UsageError(`cannot append to ${path}: it has changed since this export began`, { hint: replaceHint });

const unknownFile = (path: string, reason: string): UsageError =>
  new UsageError(`${path} is not the file that this bookmark knows: ${reason}`, { hint: replaceHint });

/** Describes the format of the output in words; two outputs of one form may be appended to each other. */
export function outputForm({ format, gzip, fields, delimiter = ',' }: ExportOptions): string {
  const columns = format === 'csv' ? ` with the columns ${leadColumns(fields).join(delimiter)}` : '';
  return `${gzip ? 'compressed ' : ''}${format}${columns}`;
}

function rejectOtherForm(path: string, options: ExportOptions, file: OutputFile): void {
  if (options.format === 'json') {
    throw new UsageError(`cannot append to ${path}: a JSON array ends with its last lead`, {
      hint: `use --format ndjson, or ${replaceHint}`,
    });
  }
  const form = outputForm(options);
  if (file.form === form) return;
  throw new UsageError(`cannot append ${form} to ${path}: it holds ${file.form}`, { hint: replaceHint });
}

export const sizeOf = (path: string): Promise<number | undefined> =>
  withOutputErrors(path, async () => (await stat(path).catch(ifMissing))?.size);
