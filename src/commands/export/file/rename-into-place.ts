import { rm } from 'node:fs/promises';
import { type OutputFile, writeBookmark } from '../../../files/bookmark.ts';
import { appendDurably } from '../../../files/append-durably.ts';
import { digestFile, hexOf } from '../../../files/digest.ts';
import { withOutputErrors } from '../../../files/output-error.ts';
import type { PartialFile } from '../../../files/partial.ts';
import { renameDurably } from '../../../files/replace.ts';
import type { ExportOptions } from '../options.ts';
import type { Checkpoint } from './checkpoint.ts';
import { convert } from './convert.ts';
import { type FilePaths, partialIsOutput } from './file-paths.ts';
import { changedMeanwhile, knownBeginning, type KnownFile, reopenKnownFile, sizeOf } from './known-file.ts';
import { describeContent } from './describe-content.ts';

/** What became of a file that was there before, for the summary. */
export type Publication = 'appended' | `replaced ${string}`;

/** An output under its name, and what a bookmark has to know of it. */
interface Output extends Pick<OutputFile, 'bytes' | 'sha256' | 'columns'> {
  readonly publication: Publication | undefined;
}

/**
 * Gives the file of a complete walk its name, or appends it, and moves the bookmark. A resume after a crash may repeat
 * every step. `file` is undefined when that is done already; `target` is the file to append to, when it was read at the
 * beginning of this run.
 */
export async function publishFile(
  options: ExportOptions,
  paths: FilePaths,
  file: PartialFile | undefined,
  checkpoint: Checkpoint,
  target?: KnownFile,
): Promise<Publication | undefined> {
  const output =
    file === undefined ? await named(options, paths) : await place(options, paths, file, checkpoint, target);
  if (options.bookmark !== undefined && checkpoint.bookmark !== null && output !== undefined) {
    const { bytes, sha256, columns } = output;
    const { format, gzip } = options;
    await writeBookmark(options.bookmark, {
      ...checkpoint.bookmark,
      file: { bytes, sha256, format, gzip, columns },
    });
  }
  await rm(paths.drawn, { force: true });
  // Before the checkpoint: a partial file that nothing describes could not be distinguished from another program's.
  await rm(paths.partial, { force: true });
  await rm(paths.checkpoint, { force: true });
  return output?.publication;
}

/** A crash came after the partial file had become the output; any other partial file is removed after the bookmark has moved. */
const named = async (options: ExportOptions, { file }: FilePaths): Promise<Output | undefined> =>
  partialIsOutput(options) && options.bookmark !== undefined
    ? { ...(await lengthAndDigest(file)), columns: null, publication: undefined }
    : undefined;

async function place(
  options: ExportOptions,
  paths: FilePaths,
  file: PartialFile,
  { appendTo = null, counts }: Checkpoint,
  target: KnownFile | undefined,
): Promise<Output> {
  // Its place may have been cleared between a crash and now: then the rest begins a new file.
  const isThere = ((await sizeOf(paths.file)) ?? 0) > 0;
  const base = appendTo === null || !isThere ? undefined : await openBase(paths.file, appendTo, target);
  // Without leads there is nothing to append, not even the empty member of a compressed file.
  if (base !== undefined && counts.leads === 0) return { ...base.known, publication: 'appended' };
  const drawn = partialIsOutput(options)
    ? undefined
    : await convert(file, paths, options, base?.known.columns ?? []);
  const columns = drawn?.columns ?? null;
  const source = drawn?.file ?? file;
  try {
    if (base !== undefined) {
      const appended = await appendDurably(paths.file, base.digest, source.handle);
      if (appended === undefined) throw changedMeanwhile(paths.file);
      return { ...appended, columns, publication: 'appended' };
    }
    const publication = isThere ? (`replaced ${await describeContent(paths.file)}` as const) : undefined;
    const known =
      options.bookmark === undefined ? { bytes: 0, sha256: '' } : await lengthAndDigest(source.path);
    await withOutputErrors(paths.file, () => renameDurably(source.path, paths.file));
    return { ...known, columns, publication };
  } finally {
    await drawn?.file.close();
  }
}

const openBase = (path: string, appendTo: OutputFile, target: KnownFile | undefined): Promise<KnownFile> =>
  target === undefined ? knownBeginning(path, appendTo) : reopenKnownFile(path, target);

async function lengthAndDigest(path: string): Promise<Pick<OutputFile, 'bytes' | 'sha256'>> {
  const digest = await digestFile(path);
  return { bytes: digest.bytes, sha256: hexOf(digest) };
}
