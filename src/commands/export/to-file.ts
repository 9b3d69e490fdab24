import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../errors.ts';
import { writeJsonState } from '../../files/json-state.ts';
import { PartialFile } from '../../files/partial.ts';
import { linesIn, unpacked } from '../../files/read.ts';
import { bufferOf } from '../../json/bytes.ts';
import { identifiedRecord } from '../../json/lead-reader.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { ndjsonWriter } from '../../output/records/json-records.ts';
import { counted } from '../../output/terminal/progress.ts';
import { IncompleteError, mayHelpFromStart } from '../../service/listing-types.ts';
import { start } from '../../service/pagers/position.ts';
import { isoTime } from '../../time/time-text.ts';
import { startDigest } from './bookmark.ts';
import {
  type Checkpoint,
  checkSameExport,
  type FilePaths,
  findInterrupted,
  type Interrupted,
  partialIsOutput,
} from './checkpoint.ts';
import {
  type ExportPlan,
  type ExportRequest,
  type ExportResult,
  planExport,
  type Publication,
  zeroTotals,
} from './plan.ts';
import { findKnownFile, publishFile } from './publish.ts';
import { type Destination, exportLeads } from './walk.ts';

const checkpointEveryMs = 250;
const checkpointEveryBytes = 16 * 1024 * 1024;

/**
 * Writes an export that appears under its name when it is complete, and can be resumed until then. An interrupted export that
 * had read the whole list is published first; with `--bookmark` or `--follow`, the leads since then are written after it.
 */
export async function exportToFile(request: ExportRequest, paths: FilePaths): Promise<ExportResult> {
  const { options, context, totals } = request;
  const interrupted = await findInterrupted(options, paths, context.messages);
  const wasWalkComplete = interrupted?.checkpoint.position === null;
  if (!wasWalkComplete) return walkToFile(request, paths, interrupted?.checkpoint);
  const publication = await publishInterrupted(request, paths, interrupted);
  const { counts } = interrupted.checkpoint;
  const message = counted(
    counts.leads,
    'lead of an interrupted export was',
    'leads of an interrupted export were',
  );
  // With `--replace`, the leads since then would replace these before anybody has read them.
  if (options.replace)
    context.messages.note('finished', `${message} finished; run it again for what is new since`);
  const isIncremental = options.bookmark !== undefined || options.follow !== undefined;
  if (options.replace || !isIncremental) {
    Object.assign(totals, counts);
    return { earlierLeads: counts.leads, publication };
  }
  if (counts.leads > 0 || publication !== undefined) {
    const how = publication === undefined ? '' : `, ${publication}`;
    context.messages.note('finished', `${message} written first${how}`);
  }
  return walkToFile(request, paths);
}

/** Does what is left to do for the partial file of a complete walk, which may be no more than to remove other files. */
async function publishInterrupted(
  request: ExportRequest,
  paths: FilePaths,
  { checkpoint, hasPartial }: Interrupted,
): Promise<Publication | undefined> {
  const plan = await planExport(request, checkpoint.startedAt);
  const identity = exportIdentity(plan);
  // After a crash, the file of `--bookmark` may be that of the next run already: then it is not compared.
  const hasBookmarkMoved =
    checkpoint.bookmark !== null && identity['bookmark'] === startDigest(checkpoint.bookmark);
  const { since, bookmark } = hasBookmarkMoved ? checkpoint.of : identity;
  checkSameExport(checkpoint, { ...identity, since, bookmark }, paths.checkpoint);
  const file = hasPartial ? await PartialFile.resume(paths.partial, checkpoint.bytes) : undefined;
  try {
    return await publishFile({ plan, paths, checkpoint }, file);
  } finally {
    await file?.close();
  }
}

/** Reads the list, from where `checkpoint` says, and publishes the file; starts over if the file cannot be continued. */
async function walkToFile(
  request: ExportRequest,
  paths: FilePaths,
  checkpoint?: Checkpoint,
): Promise<ExportResult> {
  const { context, totals } = request;
  const plan = await planExport(request, checkpoint?.startedAt ?? context.clock.now());
  Object.assign(totals, checkpoint?.counts);
  const earlierLeads = totals.leads;
  const destination = await openDestination(plan, paths, checkpoint);
  if (destination !== undefined) return { earlierLeads, publication: await exportLeads(plan, destination) };
  const leads = counted(earlierLeads, 'lead', 'leads');
  context.messages.note(
    'discarded',
    `this starts over and discards ${leads} of an interrupted export: the ids of its leads stand outside of what was written; a field of the leads that identifies them: leads config set api.id NAME`,
  );
  Object.assign(totals, zeroTotals());
  return walkToFile(request, paths);
}

/**
 * Opens the partial file, or continues the one of `checkpoint`, whose leads are then known to the plan. Returns undefined if they
 * cannot be recognized, because their ids are not in their records. Throws a `UsageError` if the output or the flags are not
 * those of the checkpoint.
 */
async function openDestination(
  plan: ExportPlan,
  paths: FilePaths,
  checkpoint: Checkpoint | undefined,
): Promise<Destination | undefined> {
  const { options } = plan;
  const identity = exportIdentity(plan);
  if (checkpoint !== undefined) checkSameExport(checkpoint, identity, paths.checkpoint);
  const isAppended = options.bookmark !== undefined && !options.replace;
  const knownFile = isAppended ? await findKnownFile(paths.file, options, plan.bookmark) : undefined;
  if (isAppended && knownFile === undefined) tellBeginning(plan, paths);
  if (checkpoint !== undefined) {
    const recordsWithoutId = await rememberWritten(plan, paths.partial, checkpoint);
    if (recordsWithoutId > checkpoint.counts.withoutId) return undefined;
  }
  const file =
    checkpoint === undefined
      ? await PartialFile.create(paths.partial, paths.mode)
      : await PartialFile.resume(paths.partial, checkpoint.bytes);
  const described = { startedAt: plan.startedAt, of: identity, appendTo: knownFile?.bytes ?? null };
  return fileDestination(plan, paths, file, { saved: checkpoint, described });
}

/** Without the message, a file that was removed and begins again would look whole. */
function tellBeginning({ bookmark, options, context }: ExportPlan, { file }: FilePaths): void {
  if (bookmark === undefined) return;
  const time = isoTime(bookmark.newest ?? undefined) ?? 'its last run';
  const beginning = `where ${options.bookmark ?? ''} stands, at ${time}; for every lead, remove both and run this again`;
  if (bookmark.file?.path !== resolve(file)) {
    context.messages.note('beginning', `${file} is new, and begins ${beginning}`);
  } else {
    context.messages.warn(
      `${file}, which the last run wrote, is gone or empty: it begins again ${beginning}`,
    );
  }
}

/** The checkpoint that an interrupted run has saved, and the members that all checkpoints of this run have in common. */
interface CheckpointStart {
  readonly saved: Checkpoint | undefined;
  readonly described: Pick<Checkpoint, 'startedAt' | 'of' | 'appendTo'>;
}

/**
 * A partial file with a checkpoint beside it, which says how much of it is on disk and where the next page begins. A checkpoint
 * is made at the end of each page (`latest`), and saved from time to time: `saved` is on disk since `savedAt`, in ms. The file
 * gets the name of the output at the end.
 */
function fileDestination(
  plan: ExportPlan,
  paths: FilePaths,
  file: PartialFile,
  { saved, described }: CheckpointStart,
): Destination {
  const { options, context, totals } = plan;
  const isAutomatic = options.bookmark !== undefined;
  const plain: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
  const compression = options.gzip && partialIsOutput(options) ? gzipSink(plain) : undefined;
  const records = ndjsonWriter(compression ?? plain);

  const checkpointAt = (
    position: Checkpoint['position'],
    bookmark: Checkpoint['bookmark'] = null,
  ): Checkpoint => ({
    version: 1,
    ...described,
    position,
    bytes: file.size,
    bookmark,
    counts: { ...totals },
  });
  let latest = checkpointAt(saved?.position ?? start);
  let savedAt = context.clock.now();

  /** The partial file is synced first: a checkpoint never describes bytes that are not on disk. */
  async function save(): Promise<void> {
    if (saved === latest) return;
    await file.sync();
    await writeJsonState(paths.checkpoint, latest);
    saved = latest;
    savedAt = context.clock.now();
  }

  /** Saves the last checkpoint, and returns the sentence that says what is kept and how the next run continues. */
  async function keepPages(isUnproven: boolean): Promise<string> {
    // The last page of an unproven walk is in the partial file but not in the checkpoint: the next run reads it once more.
    let { leads } = isUnproven ? totals : latest.counts;
    try {
      await save();
    } catch (failure) {
      leads = saved?.counts.leads ?? 0;
      // The first failure is the one to report; the checkpoint before it still holds.
      context.messages.verbose(`no newer checkpoint: ${messageOf(failure)}`);
    }
    const how = isUnproven
      ? `the next run reads the list again; ${isAutomatic ? '' : '--resume '}--accept-incomplete takes them for everything`
      : `run the same command ${isAutomatic ? 'again' : 'with --resume'} to continue`;
    const where = latest.position === null ? '' : ` in ${paths.partial}`;
    return `${counted(leads, 'lead is', 'leads are')} kept${where}: ${how}`;
  }

  return {
    status: context.status,
    begin: save,
    position: () => latest.position ?? undefined,
    write: (leads) => records.write(leads),
    async pageEnd(next) {
      await records.flush();
      // A resumed run can only append to whole members of the compressed file: without a cut, there is no checkpoint yet.
      if (compression !== undefined && !(await compression.endMember())) return;
      if (next === undefined) return;
      latest = checkpointAt(next);
      const grown = latest.bytes - (saved?.bytes ?? 0);
      const waitedMs = context.clock.now() - savedAt;
      if (waitedMs >= checkpointEveryMs || grown >= checkpointEveryBytes) await save();
    },
    walkEnd: save,
    async end() {
      await records.end();
      latest = checkpointAt(null, plan.window?.bookmark(plan.account) ?? null);
      await save();
      return publishFile({ plan, paths, checkpoint: latest }, file);
    },
    async breakOff(error) {
      const { leads, withoutId } = latest.counts;
      const isUnproven = error instanceof IncompleteError;
      if (isUnproven) {
        try {
          await records.flush();
          await compression?.endMember(1);
        } catch {
          // Saving fails as well, and says it.
        }
      }
      const nextReadsFromStart = isUnproven || (isAutomatic && mayHelpFromStart(error));
      if (nextReadsFromStart && withoutId > 0) {
        // Without a checkpoint the next run starts over: it would else write the records without ids a second time.
        await rm(paths.checkpoint, { force: true });
        const lost = counted(withoutId, 'record without an id', 'records without an id');
        return `${paths.partial} is kept until the next run, which starts over for its ${lost}; --accept-incomplete takes what comes for everything`;
      }
      if (isUnproven) {
        latest = { ...latest, position: start };
        return keepPages(true);
      }
      // The checkpoint of a complete walk is kept even without leads: the output may be published, and the bookmark not yet moved.
      const isWalkComplete = latest.position === null;
      if (leads > 0 || isWalkComplete) return keepPages(false);
      await rm(paths.checkpoint, { force: true });
      await rm(paths.partial, { force: true });
      return undefined;
    },
    close: () => file.close(),
  };
}

/** The facts that must not change between an export and its resumption, with a digest of all ids of the bookmark. */
function exportIdentity({ account, query, options, bookmark }: ExportPlan): Record<string, unknown> {
  const { format, fields = null, gzip, limit = null, pageSize = null } = options;
  return {
    ...account,
    since: isoTime(query.since),
    until: isoTime(query.until),
    format,
    fields,
    gzip,
    limit,
    pageSize,
    bookmark: options.bookmark !== undefined && startDigest(bookmark),
    escape: options.escape,
    bom: options.bom,
    delimiter: options.delimiter ?? null,
  };
}

/**
 * Makes the leads of the partial file known to the plan, as if this run had written them. Returns how many have no id in their
 * record: if these are more than had none in the walk, that walk found ids outside of the records.
 */
async function rememberWritten(plan: ExportPlan, path: string, { bytes }: Checkpoint): Promise<number> {
  const { window, options, service } = plan;
  if (bytes === 0) return 0;
  const { id: idName } = service.dialect;
  let withoutId = 0;
  const isCompressed = options.gzip && partialIsOutput(options);
  for await (const lines of linesIn(unpacked(path, isCompressed, bytes))) {
    for (const line of lines) {
      const record = recordIn(bufferOf(line.bytes), idName);
      if (record.id === undefined) withoutId += 1;
      else plan.ids.preload(record.id);
      window?.remember(record);
    }
  }
  return withoutId;
}

/** Documents of CouchDB have their id under `_id`. Elsewhere that member may be no id, and then no lead of the walk has it. */
function recordIn(line: Buffer, idName: string | undefined): ScannedRecord {
  const record = identifiedRecord(line, 0, idName);
  return record.hasId || idName !== undefined ? record : identifiedRecord(line, 0, '_id');
}
