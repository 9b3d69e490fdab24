import { rm } from 'node:fs/promises';
import { writeBookmark } from '../../../files/bookmark.ts';
import { withOutputErrors } from '../../../files/output-error.ts';
import type { PartialFile } from '../../../files/partial.ts';
import { renameDurably } from '../../../files/replace.ts';
import type { ExportOptions } from '../options.ts';
import type { Checkpoint } from './checkpoint.ts';
import { convert } from './convert.ts';
import { type FilePaths, partialIsOutput } from './file-paths.ts';

/** Gives the file of a complete walk its name. A resume after a crash may repeat every step. */
export async function publishFile(
  options: ExportOptions,
  paths: FilePaths,
  file: PartialFile | undefined,
  { bookmark }: Checkpoint,
): Promise<void> {
  if (file !== undefined) {
    if (partialIsOutput(options))
      await withOutputErrors(paths.file, () => renameDurably(paths.partial, paths.file));
    else await convert(file, paths, options);
  }
  if (options.bookmark !== undefined && bookmark !== null) await writeBookmark(options.bookmark, bookmark);
  await rm(paths.checkpoint, { force: true });
  await rm(paths.partial, { force: true });
}
