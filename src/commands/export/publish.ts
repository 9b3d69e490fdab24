import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { appendDurably, sha256From } from '../../files/append-durably.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { writeJsonState } from '../../files/json-state.ts';
import { PartialFile } from '../../files/partial.ts';
import { linesOf } from '../../files/read.ts';
import { renameDurably, syncDirectory } from '../../files/replace.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import { writeBookmark } from './bookmark.ts';
import { type Checkpoint, type FilePaths, hasBecome, partialIsOutput } from './checkpoint.ts';
import { changedMeanwhile, findKnownFile, outputForm, sizeOf } from './known-file.ts';
import { type ExportPlan, formOf, type Publication } from './plan.ts';

interface Publishing {
  readonly plan: ExportPlan;
  readonly paths: FilePaths;
  readonly checkpoint: Checkpoint;
}

interface Output {
  readonly bytes: number;
  readonly publication: Publication | undefined;
}

/**
 * Gives the file of a complete walk its name, or appends it, and moves the bookmark. A resume after a crash may repeat
 * every step. `partial` is undefined when the output is complete already.
 */
export async function publishFile(
  publishing: Publishing,
  partial: PartialFile | undefined,
): Promise<Publication | undefined> {
  const { plan, paths, checkpoint } = publishing;
  const { options } = plan;
  const output = partial === undefined ? undefined : await place(publishing, partial);
  const bytes = output?.bytes ?? checkpoint.becomes?.bytes;
  if (options.bookmark !== undefined && checkpoint.bookmark !== null) {
    const file = bytes === undefined ? undefined : { bytes, form: outputForm(options) };
    await writeBookmark(options.bookmark, { ...checkpoint.bookmark, file });
  }
  await rm(paths.drawn, { force: true });
  // Before the checkpoint: a partial file that nothing describes could not be distinguished from another program's.
  await rm(paths.partial, { force: true });
  await rm(paths.checkpoint, { force: true });
  // Brought back by a power loss, it would tell a later `--resume` that the export of then is complete.
  await withOutputErrors(paths.file, () => syncDirectory(dirname(paths.checkpoint)));
  return output?.publication;
}

async function place(publishing: Publishing, partial: PartialFile): Promise<Output> {
  const { plan, paths, checkpoint } = publishing;
  const { becomes, appendTo, counts } = checkpoint;
  if (becomes !== undefined && (await hasBecome(paths.file, checkpoint))) {
    return { bytes: becomes.bytes, publication: appendTo === null ? undefined : 'appended' };
  }
  const size = (await sizeOf(paths.file)) ?? 0;
  const base = await lengthToAppendTo(publishing, size);
  if (base !== undefined && counts.leads === 0) {
    // Without leads there is nothing to append, not even the empty member of a compressed file.
    if (base !== size) throw changedMeanwhile(paths.file);
    return { bytes: base, publication: 'appended' };
  }
  const source = partialIsOutput(plan.options) ? partial : await convert(partial, publishing, base);
  try {
    const bytes = (base ?? 0) + source.size;
    if (plan.options.bookmark !== undefined || source !== partial) {
      // After a crash the output is known by that, before the bookmark knows it.
      const sha256 = await withOutputErrors(source.path, () => sha256From(source.handle, 0));
      const described = { ...checkpoint, appendTo: base ?? null, becomes: { bytes, sha256 } };
      await writeJsonState(paths.checkpoint, described);
    }
    if (base === undefined) {
      await withOutputErrors(paths.file, () => renameDurably(source.path, paths.file));
      return { bytes, publication: size === 0 ? undefined : `replaced ${counted(size, 'byte', 'bytes')}` };
    }
    if (!(await appendDurably(paths.file, base, source.handle))) throw changedMeanwhile(paths.file);
    return { bytes, publication: 'appended' };
  } finally {
    if (source !== partial) await source.close();
  }
}

/** Returns undefined when this export begins the output or replaces it. */
async function lengthToAppendTo(
  { plan, paths, checkpoint }: Publishing,
  size: number,
): Promise<number | undefined> {
  const { options, bookmark } = plan;
  // The run that left the checkpoint was to append, and may have ended because the file had changed: `--replace` replaces it.
  if (options.bookmark === undefined || options.replace) return undefined;
  // Its place may have been cleared between a crash and now: then this begins a new file.
  if (size === 0) return undefined;
  // A file that was not there when the export began is judged as it would have been then.
  return checkpoint.appendTo ?? (await findKnownFile(paths.file, options, bookmark))?.bytes;
}

/** Writes the partial file's records in the output's form into a file of its own, which is on disk, and open. */
async function convert(
  partial: PartialFile,
  { plan, paths }: Publishing,
  base: number | undefined,
): Promise<PartialFile> {
  const { options } = plan;
  const header = base === undefined;
  const file = await PartialFile.create(paths.drawn, paths.mode);
  try {
    const sink: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
    const compressed = options.gzip ? gzipSink(sink) : sink;
    const form = { ...formOf(plan), header, byteOrderMark: options.bom && header };
    const records = await recordWriter(options.format, compressed, form);
    for await (const lines of linesOf(partial.handle)) await records.write(lines);
    await records.end();
    await file.sync();
    return file;
  } catch (error) {
    await file.close();
    await rm(file.path, { force: true });
    throw error;
  }
}
