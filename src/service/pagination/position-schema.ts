import * as z from 'zod/mini';

const after = z.optional(z.string());
const shared = {
  /** Records requested per page: places counted in pages mean something with the same size only. */
  size: z.optional(z.int()),
  /** Leads stood elsewhere than they were, or nothing showed how pages join, up to here. */
  hasMoved: z.optional(z.boolean()),
  /** Why an answer up to here was not all of what was asked for, as it said itself. */
  partial: z.optional(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('partial-answer'), sign: z.string() }),
      z.object({ kind: z.literal('range-does-not-fit'), range: z.optional(z.string()), count: z.int() }),
    ]),
  ),
  /** Leads of the run before that are asked for again had not come up to here. */
  lacksRunBefore: z.optional(z.boolean()),
  /** What the totals of the pages so far say, so that a resumed walk can go on comparing. */
  totals: z.optional(
    z.object({
      /** Different leads met up to here. */
      met: z.int(),
      /** Leads in all, as the first page and the last one say. */
      first: z.int(),
      last: z.int(),
      /** When the first page came: milliseconds since the epoch. */
      began: z.optional(z.number()),
    }),
  ),
};

/** A position as a checkpoint holds it. */
export const positionSchema = z.discriminatedUnion('style', [
  z.object({ style: z.literal('start'), ...shared }),
  /** A `Link` header or a next URL in the body; absolute, of the service's own origin. */
  z.object({ style: z.literal('url'), url: z.string(), after, ...shared }),
  z.object({
    style: z.literal('cursor'),
    param: z.string(),
    cursor: z.string(),
    /** The cursor is the id of the last lead, its time, or a plain count of pages or of records. */
    is: z.optional(z.enum(['id', 'page', 'offset', 'time'])),
    after,
    ...shared,
  }),
  z.object({ style: z.literal('page'), param: z.string(), page: z.int(), after, ...shared }),
  z.object({ style: z.literal('offset'), param: z.string(), offset: z.int(), after, ...shared }),
]);
