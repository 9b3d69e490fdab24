import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { type Lock, lock } from '../../files/lock.ts';
import { findOutputPlace, regularFile } from '../../files/output-place.ts';
import { counted, summaryLine } from '../../output/terminal/progress.ts';
import { openService, type Service } from '../../service/client/service.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { type FilePaths, filePaths } from './checkpoint.ts';
import { type FinishedWalk, openPartialExport } from './resume.ts';
import { type Publication, publishFile } from './publish.ts';
import { fileDestination } from './to-file.ts';
import { type ExportOptions, rejectContradictions, settleOptions, type TypedOptions } from './options.ts';
import { planExport } from './plan.ts';
import { openStreamOutput, standardOutput, streamDestination } from './to-stream.ts';
import { exportLeads, type Totals } from './walk.ts';

export async function run(typed: TypedOptions, context: Context): Promise<Outcome> {
  const { clock, messages, stdout } = context;
  const settled = settleOptions(typed, messages);
  rejectContradictions(settled, stdout.isTTY === true);
  const service = await openService(context);
  const startedAt = clock.now();
  const totals: Totals = { leads: 0, duplicates: 0, withoutId: 0, retries: 0, restarts: 0 };
  const { output } = settled;
  let before = 0;
  let publication: Publication | undefined;
  const locks: Lock[] = [];
  try {
    const bookmark = settled.bookmark === undefined ? undefined : await regularFile(settled.bookmark);
    const options = { ...settled, bookmark };
    if (bookmark !== undefined) locks.push(await lock(bookmark, context));
    const place = output === undefined ? undefined : await findOutputPlace(output);
    if (place?.kind === 'file') {
      const paths = filePaths(place);
      if (paths.file === bookmark) throw new UsageError('--bookmark and -o name the same file');
      locks.push(await lock(paths.file, context));
      ({ before, publication } = await toNamedFile(service, options, context, totals, paths));
    } else {
      if (options.resume) throw new UsageError(`--resume: ${output ?? ''} is no file that can be continued`);
      const to =
        place === undefined ? standardOutput(context) : await openStreamOutput(place, output ?? '', context);
      const plan = await planExport(service, options, startedAt);
      await exportLeads(plan, context, totals, await streamDestination(plan, context, totals, to));
    }
  } finally {
    for (const held of locks) await held.release();
  }
  const durationMs = clock.now() - startedAt;
  const destination = output === undefined ? '' : ` to ${output}`;
  messages.say(summaryLine({ ...totals, before, durationMs, publication }, destination));
  return 'done';
}

/** `before` is how many of the leads an interrupted export had written. */
async function toNamedFile(
  service: Service,
  options: ExportOptions,
  context: Context,
  totals: Totals,
  paths: FilePaths,
): Promise<{ before: number; publication: Publication | undefined }> {
  let opened = await openPartialExport(service, options, paths, context);
  if (!('plan' in opened)) {
    const { leads } = opened.checkpoint.counts;
    const publication = await publishFinished(opened, options, paths);
    if (options.bookmark === undefined) {
      Object.assign(totals, opened.checkpoint.counts);
      return { before: leads, publication };
    }
    const finished = counted(
      leads,
      'lead of an interrupted export was',
      'leads of an interrupted export were',
    );
    context.messages.note('finished', `${finished} written first`);
    opened = await openPartialExport(service, options, paths, context);
    if (!('plan' in opened)) throw new Error('an export was published and is still unfinished');
  }
  Object.assign(totals, opened.checkpoint?.counts);
  const before = totals.leads;
  const { plan, start } = opened;
  const file = await fileDestination(plan, context, totals, paths, start);
  return { before, publication: await exportLeads(plan, context, totals, file) };
}

async function publishFinished(
  { file, checkpoint, columns }: FinishedWalk,
  options: ExportOptions,
  paths: FilePaths,
): Promise<Publication | undefined> {
  try {
    return await publishFile(options, paths, file, checkpoint, columns);
  } finally {
    await file?.close();
  }
}
