import { rm } from 'node:fs/promises';
import { InterruptedError, LeadsError, messageOf } from '../../errors.ts';
import { writeBookmark } from '../../files/bookmark.ts';
import type { PartialFile } from '../../files/partial.ts';
import { renameDurably } from '../../files/replace.ts';
import { writeJsonState } from '../../files/json-state.ts';
import { withOutputErrors } from '../../files/output-error.ts';
import { counted, showProgress } from '../../output/progress.ts';
import type { Position } from '../../service/pagination/position.ts';
import type { Checkpoint, Counts } from './checkpoint.ts';
import { convert } from './convert.ts';
import { type FilePaths, isDirect } from './file-paths.ts';
import { followOn } from './follow.ts';
import type { ExportPlan, Wiring } from './plan.ts';
import type { ExportOptions } from './options.ts';
import { type Totals, transfer } from './transfer.ts';
import { partialWriter } from './partial-writer.ts';

const everyMs = 250;
const everyBytes = 16 * 1024 * 1024;

export interface Beginning {
  readonly of: Readonly<Record<string, unknown>>;
  readonly file: PartialFile;
  readonly from: Position | undefined;
}

/** An export that appears under its name when it is complete, and can be gone on with until then. */
export async function exportToFile(
  job: ExportPlan,
  context: Wiring,
  totals: Totals,
  paths: FilePaths,
  { of, file, from }: Beginning,
): Promise<void> {
  const { options, window } = job;
  const { clock, stderr, globals } = context;
  const { records, mark } = await partialWriter(file, options.gzip && isDirect(options));
  const progress = showProgress(stderr, clock, !globals.quiet, totals.leads);
  const base = { version: 1, startedAt: job.startedAt, of } as const;
  let reached: Checkpoint = {
    ...base,
    position: from ?? { style: 'start' },
    bytes: file.size,
    counts: countsOf(totals),
    bookmark: null,
  };
  let polling = false;
  let kept: Checkpoint | undefined;
  let keptAt = clock.now();
  /** The partial file first: a checkpoint never speaks of bytes that are not on disk. */
  const keep = async (): Promise<void> => {
    if (kept === reached) return;
    await file.sync();
    await writeJsonState(paths.checkpoint, reached);
    kept = reached;
    keptAt = clock.now();
  };
  const walk = (current: ExportPlan, start?: Position): Promise<void> =>
    transfer(
      current,
      start,
      {
        write: (leads) => records.write(leads),
        async pageEnd(next, counts) {
          const bytes = await mark();
          // A poll asks for less than the first walk did: positions in it mean nothing to a resumed run.
          const position = polling ? ({ style: 'start' } as const) : next;
          if (bytes === undefined || position === undefined) return;
          reached = { ...base, position, bytes, counts: countsOf(counts), bookmark: null };
          const due = clock.now() - keptAt >= everyMs || bytes - (kept?.bytes ?? 0) >= everyBytes;
          if (due) await keep();
        },
      },
      totals,
      context,
      progress,
    );
  try {
    await keep();
    window?.begin(job.startedAt);
    await walk(job, from);
    window?.settle();
    if (options.follow !== undefined) {
      polling = true;
      await followOn(job, context, totals, { walk, settled: keep });
    }
    await records.end();
    const bookmark = window?.bookmark(job.account) ?? null;
    reached = { ...base, position: null, bytes: file.size, counts: countsOf(totals), bookmark };
    await keep();
    progress.clear();
    await complete(options, paths, file, reached);
  } catch (error) {
    progress.clear();
    throw await interrupted(error, context, reached.counts, paths, keep);
  } finally {
    await file.close();
  }
}

/** Gives a complete walk its name. Every step may be repeated by a resume after a crash in the midst of it. */
export async function complete(
  options: ExportOptions,
  paths: FilePaths,
  file: PartialFile | undefined,
  { bookmark }: Checkpoint,
): Promise<void> {
  if (file !== undefined) {
    if (isDirect(options)) await withOutputErrors(paths.file, () => renameDurably(paths.partial, paths.file));
    else await convert(file, paths, options);
  }
  if (options.bookmark !== undefined && bookmark !== null) await writeBookmark(options.bookmark, bookmark);
  await rm(paths.checkpoint, { force: true });
  await rm(paths.partial, { force: true });
}

const countsOf = ({ leads, duplicates, withoutId, retries }: Counts): Counts => ({
  leads,
  duplicates,
  withoutId,
  retries,
});

/** Keeps what there is and says how to go on: in the hint of an interruption, in a note beside any other failure. */
async function interrupted(
  error: unknown,
  { signal, messages }: Wiring,
  { leads }: Counts,
  paths: FilePaths,
  keep: () => Promise<void>,
): Promise<unknown> {
  if (!signal.aborted && !(error instanceof LeadsError)) return error;
  if (leads === 0) {
    await rm(paths.checkpoint, { force: true });
    await rm(paths.partial, { force: true });
    return error;
  }
  try {
    await keep();
  } catch (failure) {
    // The first failure is the one to report; the checkpoint before it still holds.
    messages.verbose(`no newer checkpoint: ${messageOf(failure)}`);
  }
  const kept = `${counted(leads, 'lead is', 'leads are')} kept in ${paths.partial}`;
  const how = 'run the same command with --resume to go on';
  const reason: unknown = signal.reason;
  if (signal.aborted && reason instanceof InterruptedError) {
    return new InterruptedError(reason.signal, { hint: `${kept}: ${how}` });
  }
  messages.note('resume', `${kept}: ${how}`);
  return error;
}
