import { open, stat } from 'node:fs/promises';
import * as z from 'zod/mini';
import { DataError, UsageError } from '../../errors.ts';
import type { Messages } from '../../output/messages.ts';
import { counted } from '../../output/terminal/progress.ts';
import { sha256From } from '../../files/partial.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { differencesOf, readJsonState } from '../../files/json-state.ts';
import type { OutputPlace } from '../../files/output-place.ts';
import { ifMissing } from '../../files/read.ts';
import { positionSchema } from '../../service/pagers/position-schema.ts';
import { bookmarkSchema } from './bookmark.ts';
import type { ExportOptions } from './command.ts';

/** The counts of the summary: `leads` were written, and `leftOut` names the records that are not valid JSON. */
const totalsSchema = z.object({
  leads: z.int(),
  duplicates: z.int(),
  withoutId: z.int(),
  retries: z.int(),
  leftOut: z.array(z.string()),
});

/**
 * An interrupted export continues here. While it walks, the leads of whole pages go to the partial file, and `position` is the
 * next page; when the walk is complete, `position` is null, and the partial file becomes the output or is appended to it.
 * - `startedAt`: when the first attempt began, in ms; relative times count from then
 * - `of`: what must be the same when it is resumed: address, filters with resolved times, form
 * - `bytes`: so much of the partial file is on disk; bytes after these belong to a page that was not whole
 * - `bookmark`, after a complete walk: what the bookmark file is to hold once the output has its name
 * - `appendTo`: the length of the output that the partial file is appended to; null: it gets the name of the output
 * - `becomes`: the output once it is complete: its length, and the digest of what this export adds to it
 */
const checkpointSchema = z.object({
  version: z.literal(1),
  startedAt: z.number(),
  of: z.record(z.string(), z.unknown()),
  position: z.nullable(positionSchema),
  bytes: z.int(),
  counts: totalsSchema,
  bookmark: z.nullable(bookmarkSchema),
  appendTo: z.nullable(z.int()),
  becomes: z.optional(z.object({ bytes: z.int(), sha256: z.string() })),
});

export type Checkpoint = z.output<typeof checkpointSchema>;
export type Totals = z.output<typeof totalsSchema>;

/** Throws a `UsageError` that names what differs between an interrupted export and the flags of this run. */
export function checkSameExport(
  checkpoint: Checkpoint,
  identity: Readonly<Record<string, unknown>>,
  path: string,
): void {
  const differing = differencesOf(checkpoint.of, identity);
  if (differing.length === 0) return;
  // A run with a bookmark always continues what it finds: its checkpoint has to be removed.
  const obstacle = identity['bookmark'] === false ? '--resume' : path;
  throw new UsageError(`the interrupted export had other flags: it differs in ${differing.join(', ')}`, {
    hint: `resume with the flags that it was started with, or start again without ${obstacle}`,
  });
}

export interface FilePaths {
  readonly file: string;
  readonly partial: string;
  readonly checkpoint: string;
  /** The records of the complete partial file in the form of the output, if that is not the partial file's own. */
  readonly converted: string;
  readonly mode: number | undefined;
}

export const filePaths = ({ path, mode }: Extract<OutputPlace, { kind: 'file' }>): FilePaths => ({
  file: path,
  partial: `${path}.partial`,
  checkpoint: `${path}.checkpoint`,
  converted: `${path}.drawn`,
  mode,
});

/** Whether the partial file already is what the output is to be; otherwise it holds whole records as NDJSON. */
export const partialIsOutput = ({ format, fields }: Pick<ExportOptions, 'format' | 'fields'>): boolean =>
  format === 'ndjson' && fields === undefined;

export interface Interrupted {
  readonly checkpoint: Checkpoint;
  /** False: the walk was complete, and the partial file has become the output already. */
  readonly hasPartial: boolean;
}

/**
 * Finds the export that this run continues, which needs `--resume` or `--bookmark`. Returns undefined for a run that starts over,
 * and notes what that discards.
 */
export async function findInterrupted(
  { resume, bookmark }: ExportOptions,
  paths: FilePaths,
  messages: Pick<Messages, 'note'>,
): Promise<Interrupted | undefined> {
  const { partial, checkpoint: path } = paths;
  const continues = resume || bookmark !== undefined;
  const partialBytes = await sizeOf(partial);
  const checkpoint = await readJsonState(path, checkpointSchema, 'checkpoint').catch((error: unknown) => {
    // A checkpoint of a newer release is not lost because an older one starts over.
    const isDamaged = error instanceof DataError && error.kind !== 'state-of-newer-version';
    if (continues || !isDamaged) throw error;
    return undefined;
  });
  const noteDiscarded = (message: string): void => messages.note('discarded', message);
  if (checkpoint === undefined) {
    if (partialBytes !== undefined) noteDiscarded(`${partial} is overwritten: no ${path} describes it`);
    return undefined;
  }
  if (continues) {
    const isWhole = partialBytes !== undefined && partialBytes >= checkpoint.bytes;
    if (isWhole) return { checkpoint, hasPartial: true };
    const hasPartial = partialBytes !== undefined;
    if (await isPublished(checkpoint, paths.file, hasPartial)) return { checkpoint, hasPartial: false };
    const state = hasPartial ? 'shorter than its checkpoint says' : 'gone';
    if (checkpoint.bytes > 0) noteDiscarded(`${partial} is ${state}, and this starts over`);
  } else if (partialBytes !== undefined && partialBytes > 0) {
    const content = counted(partialBytes, 'byte', 'bytes');
    const message = `this starts over and discards ${content} of an interrupted export, in ${partial}`;
    noteDiscarded(`${message}; --resume would have continued it`);
  }
  return undefined;
}

/** Whether the partial file has been renamed to the output, or appended to it, which leaves the partial file for a moment. */
async function isPublished(checkpoint: Checkpoint, output: string, hasPartial: boolean): Promise<boolean> {
  if (checkpoint.position !== null) return false;
  if (checkpoint.becomes !== undefined) return isOutputComplete(output, checkpoint);
  // A plain file without a bookmark is renamed without a digest: only its length can be compared.
  const isRenamed = !hasPartial && checkpoint.appendTo === null;
  return isRenamed && (await sizeOf(output)) === checkpoint.bytes;
}

/** Whether the output already ends with what this export adds to it. */
export async function isOutputComplete(path: string, checkpoint: Checkpoint): Promise<boolean> {
  const { becomes, appendTo } = checkpoint;
  if (becomes === undefined || (await sizeOf(path)) !== becomes.bytes) return false;
  return withOutputErrors(path, async () => {
    const output = await open(path);
    try {
      return (await sha256From(output, appendTo ?? 0)) === becomes.sha256;
    } finally {
      await output.close();
    }
  });
}

export const sizeOf = (path: string): Promise<number | undefined> =>
  withOutputErrors(path, async () => (await stat(path).catch(ifMissing))?.size);
