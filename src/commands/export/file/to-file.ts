import type { PartialFile } from '../../../files/partial.ts';
import { writeJsonState } from '../../../files/json-state.ts';
import { showProgress } from '../../../output/terminal/progress.ts';
import type { Position } from '../../../service/pagination/position.ts';
import { firstWalk, pollUntilInterrupted } from '../follow.ts';
import type { ExportContext, ExportPlan } from '../plan.ts';
import { type Totals, transfer } from '../transfer.ts';
import type { Checkpoint, Counts } from './checkpoint.ts';
import { type FilePaths, partialIsOutput } from './file-paths.ts';
import { keepPartial } from './keep-partial.ts';
import { partialWriter } from './partial-writer.ts';
import type { KnownFile } from './known-file.ts';
import { type Publication, publishFile } from './rename-into-place.ts';

const checkpointEveryMs = 250;
const checkpointEveryBytes = 16 * 1024 * 1024;

export interface FileStart {
  /** What must be the same when the export is resumed. */
  readonly identity: Readonly<Record<string, unknown>>;
  readonly file: PartialFile;
  /** Where the walk begins; undefined: at the first page. */
  readonly position: Position | undefined;
  /** The file to append to; undefined: the partial file becomes the output. */
  readonly target: KnownFile | undefined;
}

/** An export that appears under its name when it is complete, and can be resumed until then. */
export async function exportToFile(
  plan: ExportPlan,
  context: ExportContext,
  totals: Totals,
  paths: FilePaths,
  { identity, file, position: from, target }: FileStart,
): Promise<Publication | undefined> {
  const { options, window } = plan;
  const { clock, status } = context;
  const { records, checkpointLength } = await partialWriter(file, options.gzip && partialIsOutput(options));
  const progress = showProgress(status, clock, totals.leads);
  const base = {
    ...({ version: 1, startedAt: plan.startedAt, of: identity } as const),
    appendTo: target?.known ?? null,
  };
  let latest: Checkpoint = {
    ...base,
    position: from ?? { style: 'start' },
    bytes: file.size,
    counts: countsOf(totals),
    bookmark: null,
  };
  let polling = false;
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
  const walk = (current: ExportPlan, start?: Position): Promise<void> =>
    transfer(
      current,
      start,
      {
        write: (leads) => records.write(leads),
        async pageEnd(next, counts) {
          const bytes = await checkpointLength();
          // A poll requests less than the first walk did, so its positions mean nothing to a resumed run.
          const position = polling ? ({ style: 'start' } as const) : next;
          if (bytes === undefined || position === undefined) return;
          latest = { ...base, position, bytes, counts: countsOf(counts), bookmark: null };
          const due =
            clock.now() - savedAt >= checkpointEveryMs || bytes - (saved?.bytes ?? 0) >= checkpointEveryBytes;
          if (due) await save();
        },
      },
      totals,
      context,
      progress,
    );
  try {
    await save();
    window?.beginWalk(plan.startedAt);
    await firstWalk(plan, context, () => walk(plan, latest.position ?? from));
    window?.completeWalk();
    if (options.follow !== undefined) {
      polling = true;
      await pollUntilInterrupted(plan, context, totals, { walk, pollEnd: save });
    }
    await records.end();
    const bookmark = window?.bookmark(plan.account) ?? null;
    latest = { ...base, position: null, bytes: file.size, counts: countsOf(totals), bookmark };
    await save();
    progress.clear();
    return await publishFile(options, paths, file, latest, target);
  } catch (error) {
    progress.clear();
    throw await keepPartial(error, context, { counts: latest.counts, options, paths }, save);
  } finally {
    await file.close();
  }
}

const countsOf = ({ leads, duplicates, withoutId, retries }: Counts): Counts => ({
  leads,
  duplicates,
  withoutId,
  retries,
});
