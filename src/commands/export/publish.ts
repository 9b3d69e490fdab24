import { rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { writeJsonState } from '../../files/json-state.ts';
import { appendDurably, PartialFile, sha256From } from '../../files/partial.ts';
import { chunksOf, linesIn } from '../../files/read.ts';
import { renameDurably, syncDirectory } from '../../files/replace.ts';
import { leadColumns } from '../../output/records/csv.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import { type Bookmark, type OutputFile, writeBookmark } from './bookmark.ts';
import type { ExportOptions } from './command.ts';
import { type Checkpoint, type FilePaths, isOutputComplete, partialIsOutput, sizeOf } from './checkpoint.ts';
import { type ExportPlan, writerOptionsOf, type Publication } from './plan.ts';

interface Publishing {
  readonly plan: ExportPlan;
  readonly paths: FilePaths;
  readonly checkpoint: Checkpoint;
}

interface PublishedOutput {
  /** The length of the whole output. */
  readonly bytes: number;
  readonly publication: Publication | undefined;
}

/**
 * Gives the partial file of a complete walk the name of the output, or appends it to that, moves the bookmark, and removes the
 * other files. A crash may happen between any two steps, and a resumed run repeats them all. `partial` is undefined when the
 * output is complete already.
 */
export async function publishFile(
  publishing: Publishing,
  partial: PartialFile | undefined,
): Promise<Publication | undefined> {
  const { plan, paths, checkpoint } = publishing;
  const { options } = plan;
  const output = partial === undefined ? undefined : await publishOutput(publishing, partial);
  const bytes = output?.bytes ?? checkpoint.becomes?.bytes;
  if (options.bookmark !== undefined && checkpoint.bookmark !== null) {
    const file =
      bytes === undefined ? undefined : { bytes, form: outputForm(options), path: resolve(paths.file) };
    await writeBookmark(options.bookmark, { ...checkpoint.bookmark, file });
  }
  await rm(paths.converted, { force: true });
  // Before the checkpoint: a partial file that nothing describes could not be distinguished from another program's.
  await rm(paths.partial, { force: true });
  await rm(paths.checkpoint, { force: true });
  // A power loss could bring the checkpoint back, and a later `--resume` would take its own export for complete.
  await withOutputErrors(paths.file, () => syncDirectory(dirname(paths.checkpoint)));
  return output?.publication;
}

async function publishOutput(publishing: Publishing, partial: PartialFile): Promise<PublishedOutput> {
  const { plan, paths, checkpoint } = publishing;
  const { becomes, counts } = checkpoint;
  if (becomes !== undefined && (await isOutputComplete(paths.file, checkpoint))) {
    return { bytes: becomes.bytes, publication: checkpoint.appendTo === null ? undefined : 'appended' };
  }
  const sizeBefore = (await sizeOf(paths.file)) ?? 0;
  const appendTo = await lengthToAppendTo(publishing, sizeBefore);
  if (appendTo !== undefined && counts.leads === 0) {
    // Without leads there is nothing to append, not even the empty member of a compressed file.
    if (appendTo !== sizeBefore) throw changedMeanwhile(paths.file);
    return { bytes: appendTo, publication: 'appended' };
  }
  const source = partialIsOutput(plan.options) ? partial : await convert(partial, publishing, appendTo);
  try {
    const bytes = (appendTo ?? 0) + source.size;
    if (plan.options.bookmark !== undefined || source !== partial) {
      // A crash may come before the bookmark knows the output: the next run recognizes the output by this digest.
      const sha256 = await withOutputErrors(source.path, () => sha256From(source.handle, 0));
      const described = { ...checkpoint, appendTo: appendTo ?? null, becomes: { bytes, sha256 } };
      await writeJsonState(paths.checkpoint, described);
    }
    if (appendTo === undefined) {
      await withOutputErrors(paths.file, () => renameDurably(source.path, paths.file));
      const replaced = counted(sizeBefore, 'byte', 'bytes');
      return { bytes, publication: sizeBefore === 0 ? undefined : `replaced ${replaced}` };
    }
    if (!(await appendDurably(paths.file, appendTo, source.handle))) throw changedMeanwhile(paths.file);
    return { bytes, publication: 'appended' };
  } finally {
    if (source !== partial) await source.close();
  }
}

/** The length of the output after which this export is appended. Undefined when it begins the output or replaces it. */
async function lengthToAppendTo(
  { plan, paths, checkpoint }: Publishing,
  sizeNow: number,
): Promise<number | undefined> {
  const { options, bookmark } = plan;
  // Checked before the checkpoint: a run that found the file changed ended with the hint to use `--replace`, as this one may.
  if (options.bookmark === undefined || options.replace) return undefined;
  // The file may have been removed between a crash and now: then this begins a new one.
  if (sizeNow === 0) return undefined;
  // A file that was not there when the export began must be the one that the bookmark knows.
  return checkpoint.appendTo ?? (await findKnownFile(paths.file, options, bookmark))?.bytes;
}

/** Writes the partial file's records in the output's form into a file of its own, which is on disk, and open. */
async function convert(
  partial: PartialFile,
  { plan, paths }: Publishing,
  appendTo: number | undefined,
): Promise<PartialFile> {
  const { options } = plan;
  const header = appendTo === undefined;
  const file = await PartialFile.create(paths.converted, paths.mode);
  try {
    const sink: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
    const compressed = options.gzip ? gzipSink(sink) : sink;
    const writerOptions = { ...writerOptionsOf(plan), header, byteOrderMark: options.bom && header };
    const records = await recordWriter(options.format, compressed, writerOptions);
    for await (const lines of linesIn(chunksOf(partial.handle, 0))) await records.write(lines);
    await records.end();
    await file.sync();
    return file;
  } catch (error) {
    await file.close();
    await rm(file.path, { force: true });
    throw error;
  }
}

const replaceHint =
  'name another file, or use --replace to keep only what is new; to start over, remove the file and the bookmark';

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
    throw unknownFile(path, `it has ${size} bytes, and the one that the last run wrote had ${file.bytes}`);
  }
  rejectOtherForm(path, options, file);
  return file;
}

const changedMeanwhile = (path: string): UsageError =>
  new UsageError(`cannot append to ${path}: it has changed since this export began`, { hint: replaceHint });

const unknownFile = (path: string, reason: string): UsageError =>
  new UsageError(`${path} is not the file that this bookmark knows: ${reason}`, { hint: replaceHint });

/** Describes the format of the output in words; two outputs of one form may be appended to each other. */
function outputForm({ format, gzip, fields, delimiter = ',' }: ExportOptions): string {
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
