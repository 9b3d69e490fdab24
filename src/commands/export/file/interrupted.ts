import { stat } from 'node:fs/promises';
import { DataError } from '../../../errors.ts';
import type { Messages } from '../../../output/messages.ts';
import { counted } from '../../../output/terminal/progress.ts';
import type { ExportOptions } from '../options.ts';
import { type Checkpoint, readCheckpoint } from './checkpoint.ts';
import type { FilePaths } from './file-paths.ts';

export interface Interrupted {
  /** Undefined: there is nothing to continue. */
  readonly checkpoint: Checkpoint | undefined;
  readonly hasPartial: boolean;
}

/** What an interrupted export left that this one continues; what it does not continue, it says. */
export async function findInterrupted(
  { resume, bookmark }: ExportOptions,
  paths: FilePaths,
  messages: Pick<Messages, 'note'>,
): Promise<Interrupted> {
  const hasPartial = await exists(paths.partial);
  const continues = resume || bookmark !== undefined;
  const stored = await readCheckpoint(paths.checkpoint).catch((error: unknown) => {
    if (continues || !(error instanceof DataError)) throw error;
    return undefined;
  });
  if (continues) {
    // Killed between the rename and the removal of the checkpoint: the output has its name already.
    const isNamed = stored?.position === null && !hasPartial && (await exists(paths.file));
    if (hasPartial || isNamed) noteUndescribed(stored, paths, messages);
    return { checkpoint: hasPartial || isNamed ? stored : undefined, hasPartial };
  }
  if (hasPartial && stored !== undefined && stored.counts.leads > 0) {
    const discarded = counted(stored.counts.leads, 'lead', 'leads');
    messages.note(
      'discarded',
      `this starts over and discards ${discarded} of an interrupted export, in ${paths.partial}; --resume would have continued it`,
    );
  } else if (hasPartial) noteUndescribed(stored, paths, messages);
  return { checkpoint: undefined, hasPartial };
}

function noteUndescribed(
  stored: Checkpoint | undefined,
  { partial, checkpoint }: FilePaths,
  messages: Pick<Messages, 'note'>,
): void {
  if (stored === undefined)
    messages.note('discarded', `${partial} is overwritten: no ${checkpoint} describes it`);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
