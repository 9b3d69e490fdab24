import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
import { isVersion } from '../../files/json-state.ts';
import type { IdSet } from '../../lead/id-set.ts';
import { positionSchema } from '../../service/pagers/position-schema.ts';

/**
 * Where an iteration is, as a plain value for `JSON.stringify`. It holds the id of every lead that was listed so far, so
 * its size grows with their number: 40 bytes each for UUIDs.
 */
export interface Checkpoint {
  readonly version: 1;
}

const checkpointSchema = z.object({
  version: z.literal(1),
  /** When the iteration first started: relative times count from here; ms. */
  startedAt: z.number(),
  /** What must be the same when it is resumed: address and filters with resolved times. */
  of: z.record(z.string(), z.unknown()),
  /** Where the page begins that was being read; null when the list was read to a complete end. */
  position: z.nullable(positionSchema),
  /** Met on the pages before that one. */
  ids: z.array(z.string()),
  /** Of them, those that are not stored as UTF-8; base64. */
  encodedIds: z.array(z.string()),
  /** A record without an id was handed out: nothing is read twice. */
  withoutId: z.boolean(),
  /** Handed out since that page began. */
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
    const hint = isVersion(value) ? "a newer version made it: 'npm install leads-cli@latest'" : undefined;
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

/** The first so many ids of a walk as a checkpoint holds them. */
export function storedIds(seen: IdSet, count: number): Pick<StoredCheckpoint, 'ids' | 'encodedIds'> {
  const [ids, encodedIds]: [string[], string[]] = [[], []];
  for (const bytes of seen.stored(count)) {
    const buffer = Buffer.from(bytes);
    // UTF-8 has no such byte: the set marks other forms with it.
    if ((buffer[0] ?? 0) < 0xfe) ids.push(buffer.toString('utf8'));
    else encodedIds.push(buffer.toString('base64'));
  }
  return { ids, encodedIds };
}

/** Adds them to the ids that a walk does not hand out again. */
export function preloadIds(seen: IdSet, { ids, encodedIds }: StoredCheckpoint): void {
  for (const id of ids) seen.preload(id);
  for (const encoded of encodedIds) seen.preloadStored(Buffer.from(encoded, 'base64'));
}
