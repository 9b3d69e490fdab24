import { rm } from 'node:fs/promises';
import { writeJsonState } from '../../files/json-state.ts';
import { PartialFile } from '../../files/partial.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { Service } from '../../service/client/service.ts';
import { IncompleteError } from '../../service/listing-types.ts';
import { mayHelpFromFront } from '../../service/listing.ts';
import {
  type Checkpoint,
  checkSameExport,
  type FilePaths,
  partialIsOutput,
  readCheckpoint,
} from './checkpoint.ts';
import { startOf } from './bookmark.ts';
import { describeContent, findKnownFile, isKnown, sizeOf } from './known-file.ts';
import type { ExportOptions } from './options.ts';
import {
  type Destination,
  type ExportContext,
  exportLeads,
  type ExportPlan,
  planExport,
  type Publication,
  type Totals,
  type Written,
} from './walk.ts';
import { publishFile } from './publish.ts';
import { DataError, UsageError } from '../../errors.ts';
import { linesIn, unpacked } from '../../files/read.ts';
import { bufferOf } from '../../json/bytes.ts';
import { identifiedRecord } from '../../json/members.ts';
import type { ScannedRecord } from '../../json/scanner.ts';
import type { Messages } from '../../output/messages.ts';

const checkpointEveryMs = 250;
const checkpointEveryBytes = 16 * 1024 * 1024;

/** An export that appears under its name when it is complete, and can be resumed until then. */
export async function exportToFile(
  service: Service,
  options: ExportOptions,
  context: ExportContext,
  totals: Totals,
  paths: FilePaths,
): Promise<Written> {
  const interrupted = await findInterrupted(options, paths, context.messages);
  const { checkpoint, lost } = interrupted;
  const mayHaveAppended = lost?.position === null || (checkpoint ?? lost)?.mayHaveAppended === true;
  // A followed run goes on so behind an increment that it finished, which nobody may have read.
  const isAppending = options.follow !== undefined && ((checkpoint ?? lost)?.appendTo ?? null) !== null;
  const continued = isAppending ? { ...options, replace: false } : options;
  let publication: Publication | undefined;
  try {
    if (checkpoint?.position !== null)
      return await continueExport(service, continued, context, totals, paths, checkpoint, mayHaveAppended);
    // Its walk was complete: at most the renaming is left to do.
    publication = await publishFinished(service, continued, paths, checkpoint, interrupted.hasPartial);
  } catch (error) {
    if (!(error instanceof UsageError) || !options.replace || error.hint === undefined) throw error;
    // It was given, and counts again without the checkpoint.
    const hint = error.hint.replace('use --replace', `remove ${paths.checkpoint}`);
    throw new UsageError(error.message, { hint, cause: error });
  }
  const { leads } = checkpoint.counts;
  const what = counted(leads, 'lead of an interrupted export was', 'leads of an interrupted export were');
  // Another increment would replace the one that was finished just now, which nobody has read; what is followed is appended,
  // but to no JSON array.
  const replacesNext = options.replace && (options.follow === undefined || options.format === 'json');
  if (options.bookmark === undefined || replacesNext) {
    Object.assign(totals, checkpoint.counts);
    if (options.replace)
      context.messages.note('finished', `${what} finished; run it again for what is new since`);
    return { before: leads, publication };
  }
  if (leads > 0 || publication !== undefined) {
    const how = publication === undefined ? '' : `, ${publication}`;
    context.messages.note('finished', `${what} written first${how}`);
  }
  return continueExport(service, { ...options, replace: false }, context, totals, paths, undefined);
}

async function publishFinished(
  service: Service,
  options: ExportOptions,
  paths: FilePaths,
  checkpoint: Checkpoint,
  hasPartial: boolean,
): Promise<Publication | undefined> {
  const plan = await planExport(service, options, checkpoint.startedAt);
  const identity = exportIdentity(plan);
  // The bookmark, and with it the begin of the next walk, may have moved already.
  const hasMoved = checkpoint.bookmark !== null && identity['bookmark'] === startOf(checkpoint.bookmark);
  const { since, bookmark } = hasMoved ? checkpoint.of : identity;
  checkSameExport(checkpoint, { ...identity, since, bookmark }, paths);
  const file = hasPartial ? await PartialFile.resume(paths.partial, checkpoint.bytes) : undefined;
  try {
    return await publishFile(plan, paths, file, checkpoint);
  } finally {
    await file?.close();
  }
}

/** From where `checkpoint` says, or from the beginning. */
async function continueExport(
  service: Service,
  options: ExportOptions,
  context: ExportContext,
  totals: Totals,
  paths: FilePaths,
  checkpoint: Checkpoint | undefined,
  mayHaveAppended?: boolean,
): Promise<Written> {
  const plan = await planExport(service, options, checkpoint?.startedAt ?? context.clock.now());
  Object.assign(totals, checkpoint?.counts);
  const before = totals.leads;
  let file: Destination;
  try {
    file = await fileDestination(plan, context, totals, paths, checkpoint, mayHaveAppended);
  } catch (error) {
    if (!(error instanceof IdsOutsideError) || options.bookmark === undefined) throw error;
    // The bookmark has not moved: all of them come again, and every later run would end here as well.
    const what = counted(before, 'lead', 'leads');
    context.messages.note(
      'discarded',
      `this starts over and discards ${what} of an interrupted export: ${error.message}`,
    );
    Object.assign(totals, { leads: 0, duplicates: 0, withoutId: 0, retries: 0, leftOut: [] });
    return continueExport(service, options, context, totals, paths, undefined, mayHaveAppended);
  }
  return { before, publication: await exportLeads(plan, context, totals, file) };
}

async function fileDestination(
  plan: ExportPlan,
  { clock, status, messages }: ExportContext,
  totals: Totals,
  paths: FilePaths,
  from: Checkpoint | undefined,
  mayHaveAppended: boolean | undefined,
): Promise<Destination> {
  const { options, window, startedAt, account } = plan;
  const identity = exportIdentity(plan);
  if (from !== undefined) checkSameExport(from, identity, paths);
  /** The file to append to; undefined: the partial file becomes the output. */
  const target =
    options.bookmark === undefined || options.replace
      ? undefined
      : await findKnownFile(paths.file, options, plan.bookmark, mayHaveAppended);
  const file = await openPartial(plan, paths, from);
  const plain: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
  const compressed = options.gzip && partialIsOutput(options) ? gzipSink(plain) : undefined;
  const records = await recordWriter('ndjson', compressed ?? plain);
  const checkpoint = (
    position: Checkpoint['position'],
    bookmark: Checkpoint['bookmark'] = null,
  ): Checkpoint => {
    const { leads, duplicates, withoutId, retries, leftOut } = totals;
    return {
      ...{ version: 1, startedAt, of: identity, appendTo: target?.known ?? null },
      ...{ position, bytes: file.size, counts: { leads, duplicates, withoutId, retries, leftOut }, bookmark },
      ...(mayHaveAppended === true && { mayHaveAppended }),
    };
  };
  let latest = checkpoint(from?.position ?? { style: 'start' });
  let saved: Checkpoint | undefined;
  let savedAt = clock.now();
  /** The partial file first: a checkpoint never describes bytes that are not on disk. */
  const save = async (): Promise<void> => {
    if (saved === latest) return;
    await file.sync();
    await writeJsonState(paths.checkpoint, latest);
    saved = latest;
    savedAt = clock.now();
  };
  const sentence = async (failure: unknown): Promise<string> => {
    const { sentenceOf } = await import('../../messages/find-message.ts');
    return sentenceOf(failure);
  };
  /** Everything is in the partial file, also what is too little for a member. */
  const flush = async (): Promise<void> => {
    await records.flush();
    await compressed?.cut(1);
  };
  return {
    status,
    begin: save,
    position: () => latest.position ?? undefined,
    write: (leads) => records.write(leads),
    async pageEnd(next) {
      await records.flush();
      // A compressed file can be resumed at some pages only.
      if (compressed !== undefined && !(await compressed.cut())) return;
      if (next === undefined) return;
      latest = checkpoint(next);
      const grown = latest.bytes - (saved?.bytes ?? 0);
      if (clock.now() - savedAt >= checkpointEveryMs || grown >= checkpointEveryBytes) await save();
    },
    walkEnd: save,
    async end() {
      await records.end();
      latest = checkpoint(null, window?.bookmark(account) ?? null);
      await save();
      return publishFile(plan, paths, file, latest, target);
    },
    async breakOff(error) {
      const isUnproven = error instanceof IncompleteError;
      // Where that fails, so does saving, which says it.
      if (isUnproven) await flush().catch(() => undefined);
      const { withoutId } = latest.counts;
      // What lacks a proof is read again from its front: without ids it would be written again as well.
      if (withoutId > 0 && (isUnproven || (options.bookmark !== undefined && mayHelpFromFront(error)))) {
        // What the output may end with stands in the checkpoint alone: it is kept in one that begins at the front.
        const counts = { leads: 0, duplicates: 0, withoutId: 0, retries: 0 };
        const front: Checkpoint = { ...latest, position: { style: 'start' }, bytes: 0, counts };
        if (mayHaveAppended !== true) await rm(paths.checkpoint, { force: true });
        else {
          const unsaved = await writeJsonState(paths.checkpoint, front).catch(sentence);
          if (unsaved !== undefined) return `the next run goes on from an older checkpoint: ${unsaved}`;
        }
        const records = counted(withoutId, 'record without an id', 'records without an id');
        return `${paths.partial} is kept until the next run, which starts over for its ${records}; --accept-incomplete takes what comes for everything`;
      }
      if (isUnproven) latest = { ...latest, position: { style: 'start' } };
      // Behind a complete walk the file may have its name, which only the checkpoint knows until the bookmark does.
      if (latest.counts.leads === 0 && !isUnproven && latest.position !== null && mayHaveAppended !== true) {
        await rm(paths.checkpoint, { force: true });
        await rm(paths.partial, { force: true });
        return undefined;
      }
      // The last page, if it proves nothing, is kept behind the checkpoint: it is to be read and counted again.
      let { leads } = isUnproven ? totals : latest.counts;
      try {
        await save();
      } catch (failure) {
        leads = (saved ?? from)?.counts.leads ?? 0;
        // The first failure is the one to report; the checkpoint before it still holds.
        messages.verbose(`no newer checkpoint: ${await sentence(failure)}`);
      }
      const resumes = options.bookmark !== undefined;
      const how = isUnproven
        ? `the next run reads the list again; ${resumes || options.format === 'xlsx' ? '' : '--resume '}--accept-incomplete takes them for everything`
        : options.format === 'xlsx'
          ? 'a workbook is not continued, run the same command again'
          : `run the same command ${resumes ? 'again' : 'with --resume'} to continue`;
      const where = latest.position === null ? '' : ` in ${paths.partial}`;
      return `${counted(leads, 'lead is', 'leads are')} kept${where}: ${how}`;
    },
    close: () => file.close(),
  };
}

/** Empty, or as an interrupted export left it, whose leads the walk then knows. */
async function openPartial(
  plan: ExportPlan,
  paths: FilePaths,
  from: Checkpoint | undefined,
): Promise<PartialFile> {
  if (from === undefined) return PartialFile.create(paths.partial, paths.mode);
  const file = await PartialFile.resume(paths.partial, from.bytes);
  try {
    await preloadIds(plan, paths.partial, from);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** What must not change between an export and its resumption. */
function exportIdentity({ account, query, options, bookmark }: ExportPlan): Record<string, unknown> {
  const { format, fields = null, gzip, limit = null, pageSize = null } = options;
  const isoTime = (ms: number | undefined): string | null =>
    ms === undefined ? null : new Date(ms).toISOString();
  return {
    ...account,
    since: isoTime(query.since),
    until: isoTime(query.until),
    format,
    fields,
    gzip,
    limit,
    pageSize,
    bookmark: options.bookmark !== undefined && startOf(bookmark),
    escape: options.escape,
    bom: options.bom,
    delimiter: options.delimiter ?? null,
  };
}

/** The ids of the leads of an interrupted export are not known any more. */
class IdsOutsideError extends UsageError {
  constructor() {
    super('this export cannot be resumed: the ids of its leads stand outside of what was written', {
      hint: 'start again without --resume; a field of the leads that identifies them: leads config set api.id NAME',
    });
  }
}

/**
 * Reads the ids and times of the records that the partial file holds. Throws an `IdsOutsideError` when the walk that
 * wrote them found ids outside of them.
 */
async function preloadIds(
  { seen, window, options, service }: ExportPlan,
  path: string,
  { bytes, counts }: Checkpoint,
): Promise<void> {
  if (bytes === 0) return;
  const { id: idName } = service.dialect;
  let withoutId = 0;
  const isCompressed = options.gzip && partialIsOutput(options);
  for await (const lines of linesIn(unpacked(path, isCompressed, bytes))) {
    for (const line of lines) {
      const record = recalled(bufferOf(line.bytes), idName);
      if (record.id === undefined) withoutId += 1;
      else seen.preload(record.id);
      window?.remember(record);
    }
  }
  if (withoutId <= counts.withoutId) return;
  throw new IdsOutsideError();
}

/** Documents of CouchDB have their id under `_id`; without unwrapping, an id that no lead of the walk has does no harm. */
function recalled(line: Buffer, idName: string | undefined): ScannedRecord {
  const record = identifiedRecord(line, 0, idName);
  return record.hasId || idName !== undefined ? record : identifiedRecord(line, 0, '_id');
}

interface Interrupted {
  /** Undefined: there is nothing to continue. */
  readonly checkpoint: Checkpoint | undefined;
  readonly hasPartial: boolean;
  /**
   * What described a partial file that is gone. After a complete walk, which has to be done again, the output may end with
   * leads of it.
   */
  readonly lost?: Checkpoint;
}

/** What an interrupted export left that this one continues; what it does not continue, it says. */
async function findInterrupted(
  { resume, bookmark, format }: ExportOptions,
  paths: FilePaths,
  messages: Pick<Messages, 'note'>,
): Promise<Interrupted> {
  const size = await sizeOf(paths.partial);
  const hasPartial = size !== undefined;
  const continues = resume || bookmark !== undefined;
  const stored = await readCheckpoint(paths.checkpoint).catch((error: unknown) => {
    // One of a newer release is not lost because an older one starts over.
    const isDamaged = error instanceof DataError && error.problem?.kind !== 'state-of-newer-version';
    if (continues || !isDamaged) throw error;
    return undefined;
  });
  if (continues) {
    if (hasPartial) noteUndescribed(stored, paths, messages);
    // Until its leads are published, the bookmark does not move: they come again, where every later run would end here.
    const isCut = bookmark !== undefined && size !== undefined && size < (stored?.bytes ?? 0);
    if ((hasPartial && !isCut) || stored === undefined) return { checkpoint: stored, hasPartial };
    // Killed between the rename and the removal of the checkpoint: the output has its name already. A partial file that is
    // still there was not renamed, but may have been appended.
    if ((!isCut || stored.becomes !== undefined) && (await isPublished(stored, paths.file)))
      return { checkpoint: stored, hasPartial: false };
    if (isCut || (stored.position === null && stored.counts.leads > 0))
      messages.note(
        'discarded',
        `${paths.partial} is ${isCut ? 'shorter than its checkpoint says' : 'gone'}, and this starts over`,
      );
    return { checkpoint: undefined, hasPartial: false, lost: stored };
  }
  if (hasPartial && stored !== undefined) {
    const discarded = await describeContent(paths.partial);
    if (discarded !== '0 bytes')
      messages.note(
        'discarded',
        `this starts over and discards ${discarded} of an interrupted export, in ${paths.partial}${format === 'xlsx' ? '' : '; --resume would have continued it'}`,
      );
  } else if (hasPartial) noteUndescribed(stored, paths, messages);
  return { checkpoint: undefined, hasPartial };
}

function noteUndescribed(
  stored: Checkpoint | undefined,
  { partial, checkpoint }: FilePaths,
  messages: Pick<Messages, 'note'>,
): void {
  if (stored === undefined)
    messages.note('discarded', `${partial} is overwritten: no ${checkpoint} describes it`);
}

/** Whether the file is what a complete walk made of it. */
async function isPublished(
  { position, bytes, appendTo, becomes }: Checkpoint,
  path: string,
): Promise<boolean> {
  if (position !== null) return false;
  if (becomes !== undefined) return isKnown(path, becomes);
  // Of a partial file that gets its name without a bookmark no more is kept.
  return appendTo === null && (await sizeOf(path)) === bytes;
}
