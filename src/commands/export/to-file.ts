import { PartialFile } from '../../files/partial.ts';
import { counted } from '../../output/terminal/progress.ts';
import { startOf } from './bookmark.ts';
import {
  type Checkpoint,
  checkSameExport,
  type FilePaths,
  findInterrupted,
  type Interrupted,
} from './checkpoint.ts';
import { exportIdentity, openFileDestination } from './file-destination.ts';
import { type ExportRequest, noTotals, planExport, type Publication, type Written } from './plan.ts';
import { publishFile } from './publish.ts';
import { exportLeads } from './walk.ts';

/** Writes an export that appears under its name when it is complete, and can be resumed until then. */
export async function exportToFile(request: ExportRequest, paths: FilePaths): Promise<Written> {
  const { options, context, totals } = request;
  const interrupted = await findInterrupted(options, paths, context.messages);
  if (interrupted?.checkpoint.position !== null) return writeFile(request, paths, interrupted?.checkpoint);
  // Its walk was complete: at most the renaming is left to do.
  const publication = await publishInterrupted(request, paths, interrupted);
  const { counts } = interrupted.checkpoint;
  const message = counted(
    counts.leads,
    'lead of an interrupted export was',
    'leads of an interrupted export were',
  );
  // The next increment would replace this one before it was read.
  if (options.replace)
    context.messages.note('finished', `${message} finished; run it again for what is new since`);
  const isAll = options.bookmark === undefined && options.follow === undefined;
  if (options.replace || isAll) {
    Object.assign(totals, counts);
    return { earlierLeads: counts.leads, publication };
  }
  if (counts.leads > 0 || publication !== undefined) {
    const how = publication === undefined ? '' : `, ${publication}`;
    context.messages.note('finished', `${message} written first${how}`);
  }
  return writeFile(request, paths);
}

async function publishInterrupted(
  request: ExportRequest,
  paths: FilePaths,
  { checkpoint, hasPartial }: Interrupted,
): Promise<Publication | undefined> {
  const plan = await planExport(request, checkpoint.startedAt);
  const identity = exportIdentity(plan);
  // The bookmark, and with it the start of the next walk, may have moved already.
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

async function writeFile(
  request: ExportRequest,
  paths: FilePaths,
  checkpoint?: Checkpoint,
): Promise<Written> {
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
  Object.assign(totals, noTotals());
  return writeFile(request, paths);
}
