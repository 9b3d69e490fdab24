import * as z from 'zod/mini';
import { readJsonState, writeJsonState } from '../../files/json-state.ts';

export const outputFile = z.object({
  bytes: z.int(),
  /** Of all of them; in hexadecimal digits. */
  sha256: z.string(),
  format: z.string(),
  gzip: z.boolean(),
  /** The header of a CSV file. */
  columns: z.nullable(z.readonly(z.array(z.string()))),
});

export const bookmarkSchema = z.object({
  /** Version 1 did not know the file. */
  version: z.union([z.literal(1), z.literal(2)]),
  /** The service's address and the filters without times: another export must not use this bookmark. */
  of: z.record(z.string(), z.unknown()),
  /** Creation time of the newest lead that a complete run wrote, or the start of that run if that was earlier; ms. */
  newest: z.nullable(z.number()),
  /** `ids` holds every lead written that was created at this time or later; ms. */
  idsSince: z.nullable(z.number()),
  /** Each with its creation time; ms. */
  ids: z.array(z.tuple([z.string(), z.number()])),
  /** Ids of leads without a readable creation time: they never fall out of the window. */
  undated: z.array(z.string()),
  /** Up to so many leads, one answer of a service that does not page was everything. */
  provenUpTo: z.optional(z.int()),
  /** What the last run wrote with `-o`: the next one may append to it. */
  file: z.optional(z.nullable(outputFile)),
});

/** A file as it was left, known by its content: it may have been renamed or copied since. */
export type OutputFile = z.output<typeof outputFile>;

/** Where the next incremental run starts. */
export type Bookmark = z.output<typeof bookmarkSchema>;

export const readBookmark = (path: string): Promise<Bookmark | undefined> =>
  readJsonState(path, bookmarkSchema, 'bookmark');

export const writeBookmark = (path: string, bookmark: Bookmark): Promise<void> =>
  writeJsonState(path, bookmark);
