import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { appendDurably, digestFile, digestWith, hexOf } from '../../files/append-durably.ts';
import { writeJsonState } from '../../files/json-state.ts';
import { type OutputFile, writeBookmark } from './bookmark.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { PartialFile } from '../../files/partial.ts';
import { linesOf } from '../../files/read.ts';
import { renameDurably, syncDirectory } from '../../files/replace.ts';
import { leadColumns } from '../../output/records/csv.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { type Checkpoint, type FilePaths, partialIsOutput } from './checkpoint.ts';
import {
  changedMeanwhile,
  describeContent,
  findKnownFile,
  isKnown,
  type KnownFile,
  reopenKnownFile,
  sizeOf,
} from './known-file.ts';
import type { ExportOptions } from './options.ts';
import { type ExportPlan, formOf, type Publication } from './plan.ts';

/** An output under its name, and what a bookmark has to know of it. */
interface Output extends Pick<OutputFile, 'bytes' | 'sha256' | 'columns'> {
  readonly publication: Publication | undefined;
}

/** A complete walk, whose file is to get its name. */
interface Publishing {
  readonly plan: ExportPlan;
  readonly paths: FilePaths;
  readonly checkpoint: Checkpoint;
  /** The file to append to, when it was read at the beginning of this run. */
  readonly target?: KnownFile | undefined;
}

/**
 * Gives the file of a complete walk its name, or appends it, and moves the bookmark. A resume after a crash may repeat
 * every step. `file` is undefined when the file has its name already.
 */
export async function publishFile(
  publishing: Publishing,
  file: PartialFile | undefined,
): Promise<Publication | undefined> {
  const { plan, paths, checkpoint } = publishing;
  const { options } = plan;
  const output =
    file === undefined ? await publishedOutput(options, paths, checkpoint) : await place(publishing, file);
  if (options.bookmark !== undefined && checkpoint.bookmark !== null && output !== undefined) {
    await writeBookmark(options.bookmark, { ...checkpoint.bookmark, file: knownAs(output, options) });
  }
  await rm(paths.drawn, { force: true });
  // Before the checkpoint: a partial file that nothing describes could not be distinguished from another program's.
  await rm(paths.partial, { force: true });
  await rm(paths.checkpoint, { force: true });
  // Brought back by a power loss, it would tell a later `--resume` that the export of then is complete.
  await withOutputErrors(paths.file, () => syncDirectory(dirname(paths.checkpoint)));
  return output?.publication;
}

const knownAs = (
  { bytes, sha256, columns }: Pick<OutputFile, 'bytes' | 'sha256' | 'columns'>,
  { format, gzip, delimiter }: ExportOptions,
): OutputFile => ({ bytes, sha256, format, gzip, columns, ...(delimiter !== undefined && { delimiter }) });

/** A crash came after the partial file had become the output. Without a bookmark nothing has to be known of it. */
async function publishedOutput(
  { bookmark }: ExportOptions,
  { file }: FilePaths,
  { becomes }: Checkpoint,
): Promise<Output | undefined> {
  if (bookmark === undefined) return undefined;
  const known = becomes ?? { ...(await lengthAndDigest(file)), columns: null };
  return { ...known, publication: undefined };
}

async function place({ plan, paths, checkpoint, target }: Publishing, file: PartialFile): Promise<Output> {
  const { options } = plan;
  const { becomes, counts } = checkpoint;
  const before = checkpoint.appendTo ?? undefined;
  if (becomes !== undefined && (await isKnown(paths.file, becomes)))
    return { ...becomes, publication: before === undefined ? undefined : 'appended' };
  // Its place may have been cleared between a crash and now: then the rest begins a new file.
  const size = (await sizeOf(paths.file)) ?? 0;
  // The run that left the checkpoint was to append, and may have ended because the file had changed: `--replace` gives it up.
  // A file that was not there when the export began is judged as it would have been then.
  const base =
    options.bookmark === undefined || options.replace || size === 0
      ? undefined
      : before === undefined
        ? await findKnownFile(paths.file, options, plan.bookmark, checkpoint.mayHaveAppended)
        : await reopenKnownFile(paths.file, target ?? before);
  // Without leads there is nothing to append, not even the empty member of a compressed file.
  if (base !== undefined && counts.leads === 0) return { ...base.known, publication: 'appended' };
  const drawn = partialIsOutput(options) ? undefined : await convert(file, paths, plan, base === undefined);
  const source = drawn ?? file;
  try {
    // A partial file that gets its name without a bookmark is known by its length.
    const isDigested = options.bookmark !== undefined || drawn !== undefined;
    const digest = isDigested
      ? await withOutputErrors(source.path, () => digestWith(base?.digest, source.handle))
      : { bytes: 0, sha256: '' };
    const output = { ...digest, columns: columnsOf(options) };
    // Behind a crash it is known by that, before the bookmark knows it.
    if (isDigested) {
      const becomes = knownAs(output, options);
      await writeJsonState(paths.checkpoint, { ...checkpoint, appendTo: base?.known ?? null, becomes });
    }
    if (base !== undefined) {
      if (!(await appendDurably(paths.file, base.known.bytes, source.handle)))
        throw changedMeanwhile(paths.file);
      return { ...output, publication: 'appended' };
    }
    const publication = size > 0 ? (`replaced ${await describeContent(paths.file)}` as const) : undefined;
    await withOutputErrors(paths.file, () => renameDurably(source.path, paths.file));
    return { ...output, publication };
  } finally {
    await drawn?.close();
  }
}

async function lengthAndDigest(path: string): Promise<Pick<OutputFile, 'bytes' | 'sha256'>> {
  const digest = await digestFile(path);
  return { bytes: digest.bytes, sha256: hexOf(digest) };
}

/** The header of a CSV file, but for its last column. */
const columnsOf = ({ format, fields }: Pick<ExportOptions, 'format' | 'fields'>) =>
  format === 'csv' ? leadColumns(fields) : null;

/** Writes the partial file's records in the output's form into a file of its own, which is on disk, and open. */
async function convert(
  from: PartialFile,
  paths: FilePaths,
  plan: ExportPlan,
  header: boolean,
): Promise<PartialFile> {
  const { options } = plan;
  const file = await PartialFile.create(paths.drawn, paths.mode);
  try {
    const sink: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
    const compressed = options.gzip ? gzipSink(sink) : sink;
    const form = { ...formOf(plan), header, byteOrderMark: options.bom && header };
    const records = await recordWriter(options.format, compressed, form);
    for await (const lines of linesOf(from.handle)) await records.write(lines);
    await records.end();
    await file.sync();
    return file;
  } catch (error) {
    await file.close();
    await rm(file.path, { force: true });
    throw error;
  }
}
