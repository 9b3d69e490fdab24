import { type Lock, lock } from '../../files/lock.ts';
import type { Context } from '../../context.ts';
import { summaryLine } from '../../output/summary.ts';
import { openService } from '../../service/client/service.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { openOutput, type Walked } from './resume.ts';
import { deviceSink } from './device-sink.ts';
import { type FilePaths, filePaths } from './file-paths.ts';
import { planExport } from './plan.ts';
import { type ExportOptions, rejectContradictions } from './options.ts';
import type { Totals } from './transfer.ts';
import { complete, exportToFile } from './to-file.ts';
import { exportToStream } from './to-stream.ts';

export async function run(given: ExportOptions, context: Context): Promise<Outcome> {
  rejectContradictions(given, context.stdout.isTTY === true);
  const service = await openService(context);
  const now = context.clock.now();
  const totals: Totals = {
    leads: 0,
    duplicates: 0,
    withoutId: 0,
    retries: 0,
    restarts: 0,
    shifted: false,
  };
  let before = 0;
  const locks: Lock[] = [];
  try {
    if (given.bookmark !== undefined) locks.push(await lock(given.bookmark, context));
    const paths = given.output === undefined ? undefined : await filePaths(given.output);
    if (paths === undefined) {
      const sink = given.output === undefined ? undefined : await deviceSink(given.output);
      await exportToStream(await planExport(service, given, now), context, totals, sink);
    } else {
      locks.push(await lock(paths.file, context));
      const begun = await openOutput(service, given, paths, now);
      Object.assign(totals, begun.checkpoint?.counts);
      before = totals.leads;
      if ('job' in begun) await exportToFile(begun.job, context, totals, paths, begun.beginning);
      else await finish(begun, given, paths);
    }
  } finally {
    for (const held of locks) await held.release();
  }
  const durationMs = context.clock.now() - now;
  const place = given.output === undefined ? '' : ` to ${given.output}`;
  context.messages.say(summaryLine({ ...totals, before, durationMs }, place));
  return 'done';
}

async function finish({ file, checkpoint }: Walked, given: ExportOptions, paths: FilePaths): Promise<void> {
  try {
    await complete(given, paths, file, checkpoint);
  } finally {
    await file?.close();
  }
}
