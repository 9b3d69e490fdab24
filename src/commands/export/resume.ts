import { stat } from 'node:fs/promises';
import { DataError, UsageError } from '../../errors.ts';
import { linesIn, unpacked } from '../../files/read.ts';
import { bufferOf } from '../../json/bytes.ts';
import { identifiedRecord } from '../../json/members.ts';
import type { ScannedRecord } from '../../json/scanner.ts';
import type { Messages } from '../../output/messages.ts';
import { type Checkpoint, type FilePaths, partialIsOutput, readCheckpoint } from './checkpoint.ts';
import { describeContent } from './known-file.ts';
import type { ExportOptions } from './options.ts';
import type { ExportPlan } from './walk.ts';

/** What must not change between an export and its resumption. */
export function exportIdentity({ account, query, options }: ExportPlan): Record<string, unknown> {
  const { format, fields = null, gzip, limit = null, pageSize = null, bookmark = null } = options;
  const isoTime = (ms: number | undefined): string | null =>
    ms === undefined ? null : new Date(ms).toISOString();
  return {
    ...account,
    since: isoTime(query.since),
    until: isoTime(query.until),
    format,
    fields,
    gzip,
    // The name in checkpoints of earlier versions.
    max: limit,
    pageSize,
    bookmark: bookmark !== null,
    // Named only where they are set: checkpoints of earlier versions have neither.
    ...(options.escape ? {} : { escape: false }),
    ...(options.bom && { bom: true }),
    ...(options.delimiter !== undefined && { delimiter: options.delimiter }),
  };
}

/**
 * Reads the ids and times of the records that the partial file holds. Throws a `UsageError` when the walk that wrote them
 * found ids outside of them.
 */
export async function preloadIds(
  { seen, window, options, service }: ExportPlan,
  path: string,
  { bytes, counts }: Checkpoint,
): Promise<void> {
  if (bytes === 0) return;
  const { id: idName } = service.dialect;
  let withoutId = 0;
  const isCompressed = options.gzip && partialIsOutput(options);
  for await (const lines of linesIn(unpacked(path, isCompressed, bytes))) {
    for (const line of lines) {
      const record = recalled(bufferOf(line.bytes), idName);
      if (record.id === undefined) withoutId += 1;
      else seen.preload(record.id);
      window?.remember(record);
    }
  }
  if (withoutId <= counts.withoutId) return;
  throw new UsageError(
    'this export cannot be resumed: the ids of its leads stand outside of what was written',
    {
      hint: 'start again without --resume; a field of the leads that identifies them: leads config set api.id NAME',
    },
  );
}

/** Documents of CouchDB have their id under `_id`; without unwrapping, an id that no lead of the walk has does no harm. */
function recalled(line: Buffer, idName: string | undefined): ScannedRecord {
  const record = identifiedRecord(line, 0, idName);
  return record.hasId || idName !== undefined ? record : identifiedRecord(line, 0, '_id');
}

interface Interrupted {
  /** Undefined: there is nothing to continue. */
  readonly checkpoint: Checkpoint | undefined;
  readonly hasPartial: boolean;
}

/** What an interrupted export left that this one continues; what it does not continue, it says. */
export async function findInterrupted(
  { resume, bookmark, format }: ExportOptions,
  paths: FilePaths,
  messages: Pick<Messages, 'note'>,
): Promise<Interrupted> {
  const hasPartial = await exists(paths.partial);
  const continues = resume || bookmark !== undefined;
  const stored = await readCheckpoint(paths.checkpoint).catch((error: unknown) => {
    // One of a newer release is not lost because an older one starts over.
    const isDamaged = error instanceof DataError && error.problem?.kind !== 'state-of-newer-version';
    if (continues || !isDamaged) throw error;
    return undefined;
  });
  if (continues) {
    // Killed between the rename and the removal of the checkpoint: the output has its name already.
    const isNamed = stored?.position === null && !hasPartial && (await exists(paths.file));
    if (hasPartial || isNamed) noteUndescribed(stored, paths, messages);
    return { checkpoint: hasPartial || isNamed ? stored : undefined, hasPartial };
  }
  if (hasPartial && stored !== undefined) {
    const discarded = await describeContent(paths.partial);
    if (discarded !== '0 bytes')
      messages.note(
        'discarded',
        `this starts over and discards ${discarded} of an interrupted export, in ${paths.partial}${format === 'xlsx' ? '' : '; --resume would have continued it'}`,
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
