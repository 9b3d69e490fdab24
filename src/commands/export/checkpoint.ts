import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
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

/** Where an interrupted export continues: everything that it says of the partial file is on disk. */
const checkpointSchema = z.object({
  version: z.literal(1),
  /** When the first attempt began: relative times count from here; ms. */
  startedAt: z.number(),
  /** What must be the same when it is resumed: address, filters with resolved times, form. */
  of: z.record(z.string(), z.unknown()),
  /** Where the next page begins; null when the walk is complete. */
  position: z.nullable(positionSchema),
  /** Length of the partial file up to there. */
  bytes: z.int(),
  counts,
  /** With a complete walk: what the bookmark file is to hold once the output has its name. */
  bookmark: z.nullable(bookmarkSchema),
  /** The file to which the partial one is appended; otherwise the partial one gets its name. */
  appendTo: z.nullable(outputFile),
  /** Where everything is written but under its name: what the file is once it has that. */
  becomes: z.optional(outputFile),
  /** The output may end with leads that were appended from a partial file which is gone, before all was done anew. */
  mayHaveAppended: z.optional(z.boolean()),
});

export type Checkpoint = z.output<typeof checkpointSchema>;
export type Counts = z.output<typeof counts>;

/** Undefined when there is none. */
export const readCheckpoint = (path: string): Promise<Checkpoint | undefined> =>
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
