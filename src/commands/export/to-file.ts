import { rm } from 'node:fs/promises';
import { InterruptedError, LeadsError } from '../../errors.ts';
import { writeJsonState } from '../../files/bookmark.ts';
import type { PartialFile } from '../../files/partial.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import { IncompleteError } from '../../service/listing/incomplete-error.ts';
import type { Position } from '../../service/pagination/position.ts';
import { type Checkpoint, type Counts, type FilePaths, partialIsOutput } from './checkpoint.ts';
import type { KnownFile } from './known-file.ts';
import type { ExportOptions } from './options.ts';
import type { ExportContext, ExportPlan } from './plan.ts';
import { publishFile } from './publish.ts';
import type { Destination, Totals } from './walk.ts';

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
export async function fileDestination(
  { options, window, startedAt, account, bookmark }: ExportPlan,
  context: ExportContext,
  totals: Totals,
  paths: FilePaths,
  { identity, file, position: from, target }: FileStart,
): Promise<Destination> {
  const { clock, status } = context;
  const columns = bookmark?.file?.columns ?? [];
  const plain: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
  const compressed = options.gzip && partialIsOutput(options) ? gzipSink(plain) : undefined;
  const records = await recordWriter('ndjson', compressed ?? plain);
  const checkpoint = (
    position: Checkpoint['position'],
    bookmark: Checkpoint['bookmark'] = null,
  ): Checkpoint => ({
    ...{ version: 1, startedAt, of: identity, appendTo: target?.known ?? null },
    ...{ position, bytes: file.size, counts: countsOf(totals), bookmark },
  });
  let latest = checkpoint(from ?? { style: 'start' });
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
  return {
    status,
    begin: save,
    position: () => latest.position ?? from,
    write: (leads) => records.write(leads),
    async pageEnd(next) {
      await records.flush();
      // A compressed file can be resumed at some pages only.
      if (compressed !== undefined && !(await compressed.cut())) return;
      if (next === undefined) return;
      latest = checkpoint(next);
      const grown = latest.bytes - (saved?.bytes ?? 0);
      if (clock.now() - savedAt >= checkpointEveryMs || grown >= checkpointEveryBytes) await save();
    },
    walkEnd: (isPoll) => (isPoll ? save() : Promise.resolve()),
    async end() {
      await records.end();
      latest = checkpoint(null, window?.bookmark(account) ?? null);
      await save();
    },
    publish: () => publishFile(options, paths, file, latest, columns, target),
    breakOff: (error) => keepPartial(error, context, latest.counts.leads, totals.leads, options, paths, save),
    close: () => file.close(),
  };
}

const countsOf = ({ leads, duplicates, withoutId, retries }: Counts): Counts => ({
  leads,
  duplicates,
  withoutId,
  retries,
});

/**
 * Keeps what was written and says how to resume: in the hint of an interruption, in a note beside any other failure.
 * Returns the error to report. `saveCheckpoint` makes the partial file durable up to `leads` of all that came, behind which
 * the last page begins: one that proves nothing is to be read and counted again.
 */
async function keepPartial(
  error: unknown,
  { signal, messages }: ExportContext,
  leads: number,
  came: number,
  options: ExportOptions,
  paths: FilePaths,
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
    const { sentenceOf } = await import('../../messages/find-message.ts');
    messages.verbose(`no newer checkpoint: ${sentenceOf(failure)}`);
  }
  const kept = `${counted(isUnproven ? came : leads, 'lead is', 'leads are')} kept in ${paths.partial}`;
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
