import { rm } from 'node:fs/promises';
import { InterruptedError, LeadsError, messageOf } from '../../errors.ts';
import { writeJsonState } from '../../files/bookmark.ts';
import type { PartialFile } from '../../files/partial.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink, RecordWriter } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { counted, showProgress } from '../../output/terminal/progress.ts';
import { IncompleteError } from '../../service/listing/completion.ts';
import type { Position } from '../../service/pagination/position.ts';
import { type Checkpoint, type Counts, type FilePaths, partialIsOutput } from './checkpoint.ts';
import type { KnownFile } from './known-file.ts';
import type { ExportOptions } from './options.ts';
import type { ExportContext, ExportPlan } from './plan.ts';
import { type Publication, publishFile } from './publish.ts';
import { firstWalk, pollUntilInterrupted, type Totals, transfer } from './walk.ts';

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

interface PartialWriter {
  readonly records: RecordWriter;
  /** After a page: the length of the file up to which an export could be resumed; undefined: not at this page. */
  readonly checkpointLength: () => Promise<number | undefined>;
}

/** NDJSON into the partial file, compressed or not. */
async function partialWriter(file: PartialFile, gzip: boolean): Promise<PartialWriter> {
  const plain: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
  const compressed = gzip ? gzipSink(plain) : undefined;
  const records = await recordWriter('ndjson', compressed ?? plain);
  return {
    records,
    async checkpointLength() {
      await records.flush();
      return compressed === undefined || (await compressed.cut()) ? file.size : undefined;
    },
  };
}

interface Kept {
  /** What the latest checkpoint counts. */
  readonly counts: Counts;
  readonly options: ExportOptions;
  readonly paths: FilePaths;
}

/**
 * Keeps what was written and says how to resume: in the hint of an interruption, in a note beside any other failure.
 * Returns the error to report. `saveCheckpoint` makes the partial file durable up to `leads`.
 */
async function keepPartial(
  error: unknown,
  { signal, messages }: ExportContext,
  { counts: { leads }, options, paths }: Kept,
  saveCheckpoint: () => Promise<void>,
): Promise<unknown> {
  if (!signal.aborted && !(error instanceof LeadsError)) return error;
  const isUnproven = error instanceof IncompleteError;
  if (leads === 0 && !isUnproven) {
    await rm(paths.checkpoint, { force: true });
    await rm(paths.partial, { force: true });
    return error;
  }
  try {
    await saveCheckpoint();
  } catch (failure) {
    // The first failure is the one to report; the checkpoint before it still holds.
    messages.verbose(`no newer checkpoint: ${messageOf(failure)}`);
  }
  const kept = `${counted(leads, 'lead is', 'leads are')} kept in ${paths.partial}`;
  const resumes = options.bookmark !== undefined;
  const how = isUnproven
    ? `trying again does not help; ${resumes ? '' : '--resume '}--accept-incomplete takes them for everything`
    : `run the same command ${resumes ? 'again' : 'with --resume'} to continue`;
  const reason: unknown = signal.reason;
  if (signal.aborted && reason instanceof InterruptedError) {
    return new InterruptedError(reason.signal, { hint: `${kept}: ${how}` });
  }
  messages.note('resume', `${kept}: ${how}`);
  return error;
}
