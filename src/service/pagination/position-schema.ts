import * as z from 'zod/mini';
import type { Position } from './position.ts';

const after = z.optional(z.string());
const size = z.optional(z.int());
const is = z.optional(z.enum(['id', 'page', 'offset', 'time']));
const totals = z.optional(
  z.object({ met: z.int(), first: z.int(), last: z.int(), began: z.optional(z.number()) }),
);
const shared = { size, totals };
/** A position as a checkpoint holds it. */
export const positionSchema = z.discriminatedUnion('style', [
  z.object({ style: z.literal('start'), ...shared }),
  z.object({ style: z.literal('url'), url: z.string(), after, ...shared }),
  z.object({ style: z.literal('cursor'), param: z.string(), cursor: z.string(), is, after, ...shared }),
  z.object({ style: z.literal('page'), param: z.string(), page: z.int(), after, ...shared }),
  z.object({ style: z.literal('offset'), param: z.string(), offset: z.int(), after, ...shared }),
]);

// The schema repeats the type of a position; this line makes the compiler compare them.
positionSchema satisfies z.ZodMiniType<Position>;
