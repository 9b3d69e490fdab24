import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
import { isNewerVersion } from '../../files/json-state.ts';
import { positionSchema } from '../../service/pagers/position-schema.ts';

/**
 * The position of an iteration, as a plain value for `JSON.stringify`. It holds the id of every lead that was
 * listed so far, so its size grows with their number: by 40 bytes for a UUID.
 */
export interface Checkpoint {
  readonly version: 1;
}

const checkpointSchema = z.object({
  version: z.literal(1),
  /** The time of the first start in milliseconds, from which relative times count. */
  startedAt: z.number(),
  /** The address and the filters with absolute times, which must be the same when the iteration continues. */
  of: z.record(z.string(), z.unknown()),
  /** The start of the page that was being read; null when the list was read to a complete end. */
  position: z.nullable(positionSchema),
  /** The stored bytes of each id on the pages before, with one character for a byte. */
  ids: z.array(z.string()),
  /** Whether a record without an id was delivered: then no page is read a second time from the start. */
  withoutId: z.boolean(),
  /** The leads that were delivered since that page began. */
  since: z.object({ ids: z.array(z.string()), digests: z.array(z.string()) }),
});

export type StoredCheckpoint = z.output<typeof checkpointSchema>;

/** Throws a `UsageError` for a value that is no checkpoint, and for one of another service or of other filters. */
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
  const identity = identityAt(data.startedAt);
  const keys = Object.keys({ ...data.of, ...identity }).filter(
    (key) => JSON.stringify(identity[key]) !== JSON.stringify(data.of[key]),
  );
  if (keys.length === 0) return data;
  throw new UsageError(`the checkpoint is of another iteration: it differs in ${keys.join(', ')}`, {
    hint: 'go on with the base URL, the dialect and the filter that it started with',
  });
}
