import { open } from 'node:fs/promises';
import * as z from 'zod/mini';
import { DataError, UsageError } from '../../errors.ts';
import type { Messages } from '../../output/messages.ts';
import { counted } from '../../output/terminal/progress.ts';
import { sha256From } from '../../files/append-durably.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { readJsonState } from '../../files/json-state.ts';
import type { OutputPlace } from '../../files/output-place.ts';
import { positionSchema } from '../../service/pagers/position-schema.ts';
import { bookmarkSchema } from './bookmark.ts';
import type { ExportOptions } from './command.ts';
import { sizeOf } from './known-file.ts';

const counts = z.object({
  leads: z.int(),
  duplicates: z.int(),
  withoutId: z.int(),
  retries: z.int(),
  leftOut: z.array(z.string()),
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
  bytes: z.int(),
  counts,
  /** With a complete walk: what the bookmark file is to hold once the output has its name. */
  bookmark: z.nullable(bookmarkSchema),
  /** The partial file is appended to an output of this length; null: it gets the name of the output. */
  appendTo: z.nullable(z.int()),
  /** The output once it is complete: its length, and the digest of what this export adds to it. */
  becomes: z.optional(z.object({ bytes: z.int(), sha256: z.string() })),
});

export type Checkpoint = z.output<typeof checkpointSchema>;
export type Totals = z.output<typeof counts>;

/** Throws a `UsageError` that names what differs between an interrupted export and the flags of this run. */
export function checkSameExport(
  checkpoint: Checkpoint,
  identity: Readonly<Record<string, unknown>>,
  { checkpoint: path }: Pick<FilePaths, 'checkpoint'>,
): void {
  const before = checkpoint.of;
  const keys = Object.keys({ ...before, ...identity }).filter(
    (key) => JSON.stringify(identity[key]) !== JSON.stringify(before[key]),
  );
  if (keys.length === 0) return;
  const obstacle = identity['bookmark'] === false ? '--resume' : path;
  throw new UsageError(`the interrupted export had other flags: it differs in ${keys.join(', ')}`, {
    hint: `resume with the flags that it was started with, or start again without ${obstacle}`,
  });
}

export interface FilePaths {
  readonly file: string;
  readonly partial: string;
  readonly checkpoint: string;
  /** The records in the output's form, where that is another one than the partial file's. */
  readonly drawn: string;
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

export interface Interrupted {
  readonly checkpoint: Checkpoint;
  /** False: a complete walk's partial file has become the output. */
  readonly hasPartial: boolean;
}

export async function findInterrupted(
  { resume, bookmark }: ExportOptions,
  { file, partial, checkpoint: path }: FilePaths,
  messages: Pick<Messages, 'note'>,
): Promise<Interrupted | undefined> {
  const continues = resume || bookmark !== undefined;
  const size = await sizeOf(partial);
  const checkpoint = await readJsonState(path, checkpointSchema, 'checkpoint').catch((error: unknown) => {
    // A checkpoint of a newer release is not lost because an older one starts over.
    const isDamaged = error instanceof DataError && error.kind !== 'state-of-newer-version';
    if (continues || !isDamaged) throw error;
    return undefined;
  });
  const discard = (message: string): void => messages.note('discarded', message);
  if (checkpoint === undefined) {
    if (size !== undefined) discard(`${partial} is overwritten: no ${path} describes it`);
  } else if (!continues) {
    const content = counted(size ?? 0, 'byte', 'bytes');
    const message = `this starts over and discards ${content} of an interrupted export, in ${partial}`;
    if (size !== undefined && size > 0) discard(`${message}; --resume would have continued it`);
  } else {
    if (size !== undefined && size >= checkpoint.bytes) return { checkpoint, hasPartial: true };
    if (await isPublished(checkpoint, file, size !== undefined)) return { checkpoint, hasPartial: false };
    const state = size === undefined ? 'gone' : 'shorter than its checkpoint says';
    if (checkpoint.bytes > 0) discard(`${partial} is ${state}, and this starts over`);
  }
  return undefined;
}

/** Whether the output is complete. Its partial file is still there where it was appended. */
async function isPublished(checkpoint: Checkpoint, path: string, hasPartial: boolean): Promise<boolean> {
  if (checkpoint.position !== null) return false;
  if (checkpoint.becomes !== undefined) return hasBecome(path, checkpoint);
  // Without a bookmark, the length is all that is kept of a partial file that gets its name.
  return !hasPartial && checkpoint.appendTo === null && (await sizeOf(path)) === checkpoint.bytes;
}

export async function hasBecome(path: string, { becomes, appendTo }: Checkpoint): Promise<boolean> {
  if (becomes === undefined || (await sizeOf(path)) !== becomes.bytes) return false;
  return withOutputErrors(path, async () => {
    const file = await open(path);
    try {
      return (await sha256From(file, appendTo ?? 0)) === becomes.sha256;
    } finally {
      await file.close();
    }
  });
}
