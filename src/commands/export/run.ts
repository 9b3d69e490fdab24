import type { Context } from '../../context.ts';
import { type Lock, lock } from '../../files/lock.ts';
import { summaryLine } from '../../output/walk-summary.ts';
import { openService } from '../../service/client/service.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { deviceSink } from './device-sink.ts';
import { type FilePaths, filePaths } from './file/file-paths.ts';
import { type FinishedWalk, openPartialExport } from './file/resume.ts';
import { publishFile } from './file/publish.ts';
import { exportToFile } from './file/to-file.ts';
import { type ExportOptions, rejectContradictions } from './options.ts';
import { planExport } from './plan.ts';
import { exportToStream } from './to-stream.ts';
import type { Totals } from './transfer.ts';

export async function run(options: ExportOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options, context.stdout.isTTY === true);
  const service = await openService(context);
  const now = context.clock.now();
  const totals: Totals = {
    leads: 0,
    duplicates: 0,
    withoutId: 0,
    retries: 0,
    restarts: 0,
  };
  let leadsBefore = 0;
  const locks: Lock[] = [];
  try {
    if (options.bookmark !== undefined) locks.push(await lock(options.bookmark, context));
    const paths = options.output === undefined ? undefined : await filePaths(options.output);
    if (paths === undefined) {
      const sink = options.output === undefined ? undefined : await deviceSink(options.output);
      await exportToStream(await planExport(service, options, now), context, totals, sink);
    } else {
      locks.push(await lock(paths.file, context));
      const opened = await openPartialExport(service, options, paths, now);
      Object.assign(totals, opened.checkpoint?.counts);
      leadsBefore = totals.leads;
      if ('plan' in opened) await exportToFile(opened.plan, context, totals, paths, opened.start);
      else await publishFinished(opened, options, paths);
    }
  } finally {
    for (const held of locks) await held.release();
  }
  const durationMs = context.clock.now() - now;
  const destination = options.output === undefined ? '' : ` to ${options.output}`;
  context.messages.say(summaryLine({ ...totals, before: leadsBefore, durationMs }, destination));
  return 'done';
}

async function publishFinished(
  { file, checkpoint }: FinishedWalk,
  options: ExportOptions,
  paths: FilePaths,
): Promise<void> {
  try {
    await publishFile(options, paths, file, checkpoint);
  } finally {
    await file?.close();
  }
}
