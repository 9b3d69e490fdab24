import { UsageError } from '../../errors.ts';
import { PartialFile } from '../../files/partial.ts';
import { counted } from '../../output/terminal/progress.ts';
import { startOf } from './bookmark.ts';
import { type Checkpoint, checkSameExport, type FilePaths, findInterrupted } from './checkpoint.ts';
import { exportIdentity, FileDestination, IdsOutsideError } from './file-destination.ts';
import { type ExportRequest, noTotals, planExport, type Publication, type Written } from './plan.ts';
import { publishFile } from './publish.ts';
import { exportLeads } from './walk.ts';

/** Writes an export that appears under its name when it is complete, and can be resumed until then. */
export async function exportToFile(request: ExportRequest, paths: FilePaths): Promise<Written> {
  const { options, context, totals } = request;
  const { checkpoint, lost, hasPartial } = await findInterrupted(options, paths, context.messages);
  const mayHaveAppended = lost?.position === null || (checkpoint ?? lost)?.mayHaveAppended === true;
  // Nobody may have read the increment that a followed run finished: the run appends to it.
  const isAppending = options.follow !== undefined && ((checkpoint ?? lost)?.appendTo ?? null) !== null;
  const continued = { ...request, options: isAppending ? { ...options, replace: false } : options };
  let publication: Publication | undefined;
  try {
    if (checkpoint?.position !== null)
      return await continueExport(continued, paths, { checkpoint, mayHaveAppended });
    // Its walk was complete: at most the renaming is left to do.
    publication = await publishFinished(continued, paths, checkpoint, hasPartial);
  } catch (error) {
    if (!(error instanceof UsageError) || !options.replace || error.hint === undefined) throw error;
    // The flag was given, and counts again once the checkpoint is removed.
    const hint = error.hint.replace('use --replace', `remove ${paths.checkpoint}`);
    throw new UsageError(error.message, { hint, cause: error });
  }
  const { leads } = checkpoint.counts;
  const message = counted(leads, 'lead of an interrupted export was', 'leads of an interrupted export were');
  // The finished increment, which nobody has read, would be replaced; a followed run appends, but not to a JSON array.
  const replacesNext = options.replace && (options.follow === undefined || options.format === 'json');
  if (options.bookmark === undefined || replacesNext) {
    Object.assign(totals, checkpoint.counts);
    if (options.replace)
      context.messages.note('finished', `${message} finished; run it again for what is new since`);
    return { before: leads, publication };
  }
  if (leads > 0 || publication !== undefined) {
    const how = publication === undefined ? '' : `, ${publication}`;
    context.messages.note('finished', `${message} written first${how}`);
  }
  return continueExport({ ...request, options: { ...options, replace: false } }, paths, {});
}

async function publishFinished(
  { service, options }: ExportRequest,
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
    return await publishFile({ plan, paths, checkpoint }, file);
  } finally {
    await file?.close();
  }
}

/** An export begins where a checkpoint says, or at the first page. */
interface Beginning {
  readonly checkpoint?: Checkpoint | undefined;
  readonly mayHaveAppended?: boolean;
}

async function continueExport(
  request: ExportRequest,
  paths: FilePaths,
  { checkpoint, mayHaveAppended = false }: Beginning,
): Promise<Written> {
  const { service, options, context, totals } = request;
  const plan = await planExport(service, options, checkpoint?.startedAt ?? context.clock.now());
  Object.assign(totals, checkpoint?.counts);
  const before = totals.leads;
  const run = { plan, context, totals };
  let file: FileDestination;
  try {
    file = await FileDestination.open(run, paths, checkpoint, mayHaveAppended);
  } catch (error) {
    if (!(error instanceof IdsOutsideError) || options.bookmark === undefined) throw error;
    // The bookmark has not moved: all of them come again, and every later run would end here as well.
    const leads = counted(before, 'lead', 'leads');
    context.messages.note(
      'discarded',
      `this starts over and discards ${leads} of an interrupted export: ${error.message}`,
    );
    Object.assign(totals, noTotals());
    return continueExport(request, paths, { mayHaveAppended });
  }
  return { before, publication: await exportLeads(run, file) };
}
