import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
import { differencesOf, isNewerVersion } from '../../files/json-state.ts';
import { positionSchema } from '../../service/pagers/position-schema.ts';

/**
 * The position of an iteration, as a plain value for `JSON.stringify`. It holds the id of every lead that was
 * listed so far, so its size grows with their number: by 40 bytes for a UUID.
 */
export interface Checkpoint {
  readonly version: 1;
}

/**
 * - `startedAt`: the time of the first start in milliseconds since the epoch, from which relative times count
 * - `of`: the address and the filters with absolute times, which must be the same when the iteration continues
 * - `position`: the start of the page that was being read; null when the list was read to a complete end
 * - `ids`: the stored bytes of each id on the pages before, with one character for a byte
 * - `withoutId`: whether a record without an id was delivered: then the list is not reread from its start
 * - `since`: the leads that were delivered from that page; digests are those of records without an id
 */
const checkpointSchema = z.object({
  version: z.literal(1),
  startedAt: z.number(),
  of: z.record(z.string(), z.unknown()),
  position: z.nullable(positionSchema),
  ids: z.array(z.string()),
  withoutId: z.boolean(),
  since: z.object({ ids: z.array(z.string()), digests: z.array(z.string()) }),
});

export type StoredCheckpoint = z.output<typeof checkpointSchema>;

/**
 * Throws a `UsageError` for a value that is no checkpoint, and for one of another service or of other filters.
 * `identityAt` returns what `of` must be for an iteration that was first started at that time.
 */
export function readLeadCheckpoint(
  value: unknown,
  identityAt: (startedAt: number) => Readonly<Record<string, unknown>>,
): StoredCheckpoint {
  const parsed = z.safeParse(checkpointSchema, value);
  if (!parsed.success) {
    const hint = isNewerVersion(value)
      ? "a newer version made it: 'npm install leads-cli@latest'"
      : undefined;
    throw new UsageError('from is not what checkpoint() gave', { cause: parsed.error, hint });
  }
  const { data } = parsed;
  const differences = differencesOf(data.of, identityAt(data.startedAt));
  if (differences.length === 0) return data;
  throw new UsageError(`the checkpoint is of another iteration: it differs in ${differences.join(', ')}`, {
    hint: 'go on with the base URL, the dialect and the filter that it started with',
  });
}
