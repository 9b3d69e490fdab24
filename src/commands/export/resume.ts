import { stat } from 'node:fs/promises';
import { DataError, UsageError } from '../../errors.ts';
import { PartialFile } from '../../files/partial.ts';
import { linesIn, unpacked } from '../../files/read.ts';
import { bufferOf } from '../../json/bytes.ts';
import { identifiedRecord } from '../../json/lead-reader.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { Messages } from '../../output/messages.ts';
import type { Service } from '../../service/client/service.ts';
import {
  type Checkpoint,
  checkSameExport,
  type FilePaths,
  partialIsOutput,
  readCheckpoint,
} from './checkpoint.ts';
import { describeContent } from './describe-content.ts';
import { findKnownFile } from './known-file.ts';
import type { ExportOptions } from './options.ts';
import { type ExportContext, type ExportPlan, planExport } from './plan.ts';
import type { FileStart } from './to-file.ts';

export interface StartedExport {
  readonly plan: ExportPlan;
  readonly start: FileStart;
  /** Set when an earlier attempt is resumed. */
  readonly checkpoint: Checkpoint | undefined;
}

/** An earlier attempt whose walk was complete: at most the renaming is left to do. */
export interface FinishedWalk {
  readonly checkpoint: Checkpoint;
  /** Undefined when the output has its name already. */
  readonly file: PartialFile | undefined;
  /** Of the CSV file before. */
  readonly columns: readonly string[];
}

/**
 * Opens the partial file: empty, or where an interrupted export left it, with the ids of what it holds. Throws a
 * `UsageError` when an interrupted export had other flags, and for a file that the bookmark does not know.
 */
export async function openPartialExport(
  service: Service,
  options: ExportOptions,
  paths: FilePaths,
  { clock, messages }: Pick<ExportContext, 'clock' | 'messages'>,
): Promise<StartedExport | FinishedWalk> {
  const { checkpoint, hasPartial } = await findInterrupted(options, paths, messages);
  const plan = await planExport(service, options, checkpoint?.startedAt ?? clock.now());
  const identity = exportIdentity(plan);
  if (checkpoint?.position === null) {
    // After a complete walk the bookmark, and with it the begin of the next walk, may have moved already.
    const hasMoved = options.bookmark !== undefined;
    checkSameExport(checkpoint, hasMoved ? { ...identity, since: checkpoint.of['since'] } : identity);
    const file = hasPartial ? await PartialFile.resume(paths.partial, checkpoint.bytes) : undefined;
    return { checkpoint, file, columns: plan.bookmark?.file?.columns ?? [] };
  }
  const target =
    options.bookmark === undefined || options.replace
      ? undefined
      : await findKnownFile(paths.file, options, plan.bookmark);
  if (checkpoint === undefined) {
    const file = await PartialFile.create(paths.partial, paths.mode);
    return { plan, start: { identity, file, position: undefined, target }, checkpoint };
  }
  checkSameExport(checkpoint, identity);
  const file = await PartialFile.resume(paths.partial, checkpoint.bytes);
  try {
    await preloadIds(plan, paths.partial, checkpoint);
  } catch (error) {
    await file.close();
    throw error;
  }
  return { plan, start: { identity, file, position: checkpoint.position, target }, checkpoint };
}

/** What must not change between an export and its resumption. */
function exportIdentity({ account, query, options }: ExportPlan): Record<string, unknown> {
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
  };
}

/**
 * Reads the ids and times of the records that the partial file holds. Throws a `UsageError` when the walk that wrote them
 * found ids outside of them.
 */
async function preloadIds(
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
async function findInterrupted(
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
  if (hasPartial && stored !== undefined) {
    const discarded = await describeContent(paths.partial);
    if (discarded !== '0 bytes')
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
