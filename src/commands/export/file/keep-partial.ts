import { rm } from 'node:fs/promises';
import { InterruptedError, LeadsError, messageOf } from '../../../errors.ts';
import { counted } from '../../../output/terminal/progress.ts';
import { IncompleteError } from '../../../service/listing/evidence/completion.ts';
import type { ExportOptions } from '../options.ts';
import type { ExportContext } from '../plan.ts';
import type { Counts } from './checkpoint.ts';
import type { FilePaths } from './file-paths.ts';

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
export async function keepPartial(
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
