import * as z from 'zod/mini';
import { DataError, UsageError } from '../../errors.ts';
import type { Messages } from '../../output/messages.ts';
import { describeContent, isKnown, sizeOf } from './known-file.ts';
import { readJsonState } from '../../files/json-state.ts';
import { bookmarkSchema, outputFile } from './bookmark.ts';
import type { OutputPlace } from '../../files/output-place.ts';
import { positionSchema } from '../../service/pagers/position-schema.ts';
import type { ExportOptions } from './options.ts';

const counts = z.object({
  leads: z.int(),
  duplicates: z.int(),
  withoutId: z.int(),
  retries: z.int(),
  /** The names of records that are no JSON. */
  leftOut: z.optional(z.array(z.string())),
});

/** An interrupted export continues here: everything that this says of the partial file is on disk. */
const checkpointSchema = z.object({
  version: z.literal(1),
  /** When the first attempt began: relative times count from here; ms. */
  startedAt: z.number(),
  /** These must be the same when it is resumed: address, filters with resolved times, form. */
  of: z.record(z.string(), z.unknown()),
  /** The next page begins here; null when the walk is complete. */
  position: z.nullable(positionSchema),
  /** Length of the partial file up to there. */
  bytes: z.int(),
  counts,
  /** With a complete walk: what the bookmark file is to hold once the output has its name. */
  bookmark: z.nullable(bookmarkSchema),
  /** The file to which the partial one is appended; otherwise the partial one gets its name. */
  appendTo: z.nullable(outputFile),
  /** Everything is written but has no name yet: the file will be this once it has its name. */
  becomes: z.optional(outputFile),
  /** The output may end with leads that were appended from a partial file which is gone, before all was done anew. */
  mayHaveAppended: z.optional(z.boolean()),
});

export type Checkpoint = z.output<typeof checkpointSchema>;
export type Counts = z.output<typeof counts>;

/** Resolves to undefined when there is none. */
const readCheckpoint = (path: string): Promise<Checkpoint | undefined> =>
  readJsonState(path, checkpointSchema, 'checkpoint');

/** Throws a `UsageError` that names what differs between an interrupted export and the flags of this run. */
export function checkSameExport(
  checkpoint: Checkpoint,
  identity: Readonly<Record<string, unknown>>,
  { checkpoint: path }: Pick<FilePaths, 'checkpoint'>,
): void {
  const { bookmark } = identity;
  const { of } = checkpoint;
  const keys = Object.keys({ ...of, ...identity }).filter(
    (key) => JSON.stringify(identity[key]) !== JSON.stringify(of[key]),
  );
  if (keys.length === 0) return;
  throw new UsageError(`the interrupted export had other flags: it differs in ${keys.join(', ')}`, {
    hint: `resume with the flags that it was started with, or start again without ${bookmark === false ? '--resume' : path}`,
  });
}

export interface FilePaths {
  readonly file: string;
  readonly partial: string;
  readonly checkpoint: string;
  /** The records in the output's form, where that is another one than the partial file's. */
  readonly drawn: string;
  /** Permissions of the file that is replaced, if there is one. */
  readonly mode: number | undefined;
}

export const filePaths = ({ path, mode }: Extract<OutputPlace, { kind: 'file' }>): FilePaths => ({
  file: path,
  partial: `${path}.partial`,
  checkpoint: `${path}.checkpoint`,
  drawn: `${path}.drawn`,
  mode,
});

/** Whether the partial file already is what the output is to be; otherwise it holds whole records as NDJSON. */
export const partialIsOutput = ({ format, fields }: Pick<ExportOptions, 'format' | 'fields'>): boolean =>
  format === 'ndjson' && fields === undefined;

/** The files that an interrupted export left, as far as this export continues them. */
interface Interrupted {
  /** Undefined: there is nothing to continue. */
  readonly checkpoint: Checkpoint | undefined;
  readonly hasPartial: boolean;
  /**
   * The checkpoint of a partial file that is gone. After a complete walk, which has to be done again, the output may end
   * with leads of it.
   */
  readonly lost?: Checkpoint;
}

/** Finds the interrupted export that this one continues, and says which one it does not continue. */
export async function findInterrupted(
  { resume, bookmark, format }: ExportOptions,
  paths: FilePaths,
  messages: Pick<Messages, 'note'>,
): Promise<Interrupted> {
  const size = await sizeOf(paths.partial);
  const hasPartial = size !== undefined;
  const continues = resume || bookmark !== undefined;
  const stored = await readCheckpoint(paths.checkpoint).catch((error: unknown) => {
    // A checkpoint of a newer release is not lost because an older one starts over.
    const isDamaged = error instanceof DataError && error.kind !== 'state-of-newer-version';
    if (continues || !isDamaged) throw error;
    return undefined;
  });
  if (continues) {
    if (hasPartial) noteUndescribed(stored, paths, messages);
    // Until its leads are published, the bookmark does not move: they come again, where every later run would end here.
    const isCut = bookmark !== undefined && size !== undefined && size < (stored?.bytes ?? 0);
    if ((hasPartial && !isCut) || stored === undefined) return { checkpoint: stored, hasPartial };
    // Killed between the rename and the removal of the checkpoint, the output has its name already. A partial file that is
    // still there was not renamed, but may have been appended.
    if ((!isCut || stored.becomes !== undefined) && (await isPublished(stored, paths.file)))
      return { checkpoint: stored, hasPartial: false };
    if (isCut || (stored.position === null && stored.counts.leads > 0))
      messages.note(
        'discarded',
        `${paths.partial} is ${isCut ? 'shorter than its checkpoint says' : 'gone'}, and this starts over`,
      );
    return { checkpoint: undefined, hasPartial: false, lost: stored };
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

/** Whether the output is the file that a complete walk made. */
async function isPublished(
  { position, bytes, appendTo, becomes }: Checkpoint,
  path: string,
): Promise<boolean> {
  if (position !== null) return false;
  if (becomes !== undefined) return isKnown(path, becomes);
  // Without a bookmark, the length is all that is kept of a partial file that gets its name.
  return appendTo === null && (await sizeOf(path)) === bytes;
}
