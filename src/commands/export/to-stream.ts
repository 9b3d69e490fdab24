import { showProgress } from '../../output/terminal/progress.ts';
import { streamSink } from '../../output/records/record-writer.ts';
import type { ByteSink, RecordWriter } from '../../output/records/record-types.ts';
import { writeBookmark } from '../../files/bookmark.ts';
import { firstWalk, pollUntilInterrupted } from './follow.ts';
import type { ExportPlan, ExportContext } from './plan.ts';
import { type RecordSink, type Totals, transfer } from './transfer.ts';
import { openWriter } from './open-writer.ts';

/** An export whose bytes cannot be taken back: stdout, or a file that is a device or a pipe. */
export async function exportToStream(
  plan: ExportPlan,
  context: ExportContext,
  totals: Totals,
  sink?: ByteSink,
): Promise<void> {
  const { options, window } = plan;
  const { stdout, clock, status } = context;
  const terminal = sink === undefined && stdout.isTTY === true;
  const progress = showProgress(terminal ? undefined : status, clock);
  const records = await openWriter(sink ?? streamSink(stdout), options, terminal);
  const walk = (current: ExportPlan): Promise<void> =>
    transfer(current, undefined, sinkOf(records), totals, context, progress);
  try {
    window?.beginWalk(plan.startedAt);
    await firstWalk(plan, context, () => walk(plan));
    window?.completeWalk();
    if (options.follow === undefined) await records.end();
    await saveBookmark(plan);
    if (options.follow !== undefined) {
      await pollUntilInterrupted(plan, context, totals, {
        walk,
        pollEnd: async () => {
          await records.flush();
          await saveBookmark(plan);
        },
      });
      await records.end();
    }
  } finally {
    progress.clear();
  }
}

function sinkOf(records: RecordWriter): RecordSink {
  return {
    write: (leads) => records.write(leads),
    pageEnd: () => records.flush(),
  };
}

async function saveBookmark({ options, window, account }: ExportPlan): Promise<void> {
  if (options.bookmark === undefined || window === undefined) return;
  await writeBookmark(options.bookmark, window.bookmark(account));
}
