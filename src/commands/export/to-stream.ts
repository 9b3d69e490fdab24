import { showProgress } from '../../output/progress.ts';
import { type ByteSink, type RecordWriter, streamSink } from '../../output/records.ts';
import { writeBookmark } from '../../files/bookmark.ts';
import { followOn } from './follow.ts';
import type { ExportPlan, Wiring } from './plan.ts';
import { type Drain, type Totals, transfer } from './transfer.ts';
import { openWriter } from './partial-writer.ts';

/** An export whose bytes cannot be taken back: stdout, or a file that is a device or a pipe. */
export async function exportToStream(
  job: ExportPlan,
  context: Wiring,
  totals: Totals,
  sink?: ByteSink,
): Promise<void> {
  const { options, window } = job;
  const { stdout, stderr, clock, globals } = context;
  const terminal = sink === undefined && stdout.isTTY === true;
  const progress = showProgress(stderr, clock, !globals.quiet && !terminal);
  const records = await openWriter(sink ?? streamSink(stdout), options, terminal);
  const walk = (current: ExportPlan): Promise<void> =>
    transfer(current, undefined, drainInto(records), totals, context, progress);
  try {
    window?.begin(job.startedAt);
    await walk(job);
    window?.settle();
    if (options.follow === undefined) await records.end();
    await keepBookmark(job);
    if (options.follow !== undefined) {
      await followOn(job, context, totals, {
        walk,
        settled: async () => {
          await records.flush();
          await keepBookmark(job);
        },
      });
      await records.end();
    }
  } finally {
    progress.clear();
  }
}

function drainInto(records: RecordWriter): Drain {
  return {
    write: (leads) => records.write(leads),
    pageEnd: () => records.flush(),
  };
}

async function keepBookmark({ options, window, account }: ExportPlan): Promise<void> {
  if (options.bookmark === undefined || window === undefined) return;
  await writeBookmark(options.bookmark, window.bookmark(account));
}
