import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { appendDurably, digestWith } from '../../files/append-durably.ts';
import { writeJsonState } from '../../files/json-state.ts';
import { type OutputFile, writeBookmark } from './bookmark.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { PartialFile } from '../../files/partial.ts';
import { linesOf } from '../../files/read.ts';
import { renameDurably, syncDirectory } from '../../files/replace.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import { type Checkpoint, type FilePaths, partialIsOutput } from './checkpoint.ts';
import {
  changedMeanwhile,
  findKnownFile,
  isSameFile,
  type KnownFile,
  outputForm,
  reopenKnownFile,
  sizeOf,
} from './known-file.ts';
import { type ExportPlan, formOf, type Publication } from './plan.ts';

interface Output {
  readonly written: OutputFile | undefined;
  readonly publication: Publication | undefined;
}

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
  const { bookmark } = plan.options;
  const { written, publication }: Output =
    file === undefined
      ? { written: checkpoint.becomes, publication: undefined }
      : await place(publishing, file);
  if (bookmark !== undefined && checkpoint.bookmark !== null) {
    await writeBookmark(bookmark, { ...checkpoint.bookmark, file: written });
  }
  await rm(paths.drawn, { force: true });
  // Before the checkpoint: a partial file that nothing describes could not be distinguished from another program's.
  await rm(paths.partial, { force: true });
  await rm(paths.checkpoint, { force: true });
  // Brought back by a power loss, it would tell a later `--resume` that the export of then is complete.
  await withOutputErrors(paths.file, () => syncDirectory(dirname(paths.checkpoint)));
  return publication;
}

async function place({ plan, paths, checkpoint, target }: Publishing, file: PartialFile): Promise<Output> {
  const { options } = plan;
  const { becomes, counts } = checkpoint;
  const before = checkpoint.appendTo ?? undefined;
  if (becomes !== undefined && (await isSameFile(paths.file, becomes))) {
    return { written: becomes, publication: before === undefined ? undefined : 'appended' };
  }
  // Its place may have been cleared between a crash and now: then this begins a new file.
  const size = (await sizeOf(paths.file)) ?? 0;
  // The run that left the checkpoint was to append, and may have ended because the file had changed: `--replace` replaces it.
  // A file that was not there when the export began is judged as it would have been then.
  const base =
    options.bookmark === undefined || options.replace || size === 0
      ? undefined
      : before === undefined
        ? await findKnownFile(paths.file, options, plan.bookmark)
        : await reopenKnownFile(paths.file, before, target?.digest);
  // Without leads there is nothing to append, not even the empty member of a compressed file.
  if (base !== undefined && counts.leads === 0) return { written: base.file, publication: 'appended' };
  const drawn = partialIsOutput(options) ? undefined : await convert(file, paths, plan, base === undefined);
  const source = drawn ?? file;
  try {
    let written: OutputFile | undefined;
    if (options.bookmark !== undefined || drawn !== undefined) {
      const digest = await withOutputErrors(source.path, () => digestWith(base?.digest, source.handle));
      written = { ...digest, ...outputForm(options) };
      // After a crash the output is known by that, before the bookmark knows it.
      await writeJsonState(paths.checkpoint, {
        ...checkpoint,
        appendTo: base?.file ?? null,
        becomes: written,
      });
    }
    if (base !== undefined) {
      if (!(await appendDurably(paths.file, base.file.bytes, source.handle)))
        throw changedMeanwhile(paths.file);
      return { written, publication: 'appended' };
    }
    await withOutputErrors(paths.file, () => renameDurably(source.path, paths.file));
    const publication = size > 0 ? (`replaced ${counted(size, 'byte', 'bytes')}` as const) : undefined;
    return { written, publication };
  } finally {
    await drawn?.close();
  }
}

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
