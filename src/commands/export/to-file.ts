import { PartialFile } from '../../files/partial.ts';
import { counted } from '../../output/terminal/progress.ts';
import { startDigest } from './bookmark.ts';
import {
  type Checkpoint,
  checkSameExport,
  type FilePaths,
  findInterrupted,
  type Interrupted,
} from './checkpoint.ts';
import { exportIdentity, openFileDestination } from './file-destination.ts';
import { type ExportRequest, zeroTotals, planExport, type Publication, type ExportResult } from './plan.ts';
import { publishFile } from './publish.ts';
import { exportLeads } from './walk.ts';

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
  checkSameExport(checkpoint, { ...identity, since, bookmark }, paths);
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
  const destination = await openFileDestination(plan, paths, checkpoint);
  if (destination !== undefined) return { earlierLeads, publication: await exportLeads(plan, destination) };
  const leads = counted(earlierLeads, 'lead', 'leads');
  context.messages.note(
    'discarded',
    `this starts over and discards ${leads} of an interrupted export: the ids of its leads stand outside of what was written; a field of the leads that identifies them: leads config set api.id NAME`,
  );
  Object.assign(totals, zeroTotals());
  return walkToFile(request, paths);
}
