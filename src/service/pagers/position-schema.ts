import * as z from 'zod/mini';

const shared = {
  /** Records requested per page: places counted in pages mean something with the same size only. */
  size: z.optional(z.int()),
  /** Leads of the run before that are asked for again had not come up to here. */
  lacksRunBefore: z.optional(z.boolean()),
  /** The totals of the pages so far, with which a resumed walk continues to compare. */
  totals: z.optional(
    /** Leads in all, as the first page and the last one say. */
    z.object({ met: z.int(), first: z.int(), last: z.int() }),
  ),
};

export const positionSchema = z.discriminatedUnion('style', [
  z.object({ style: z.literal('start'), ...shared }),
  /** A `Link` header or a next URL in the body; absolute, of the service's own origin. */
  z.object({ style: z.literal('url'), url: z.string(), ...shared }),
  /** `counts`: the service's cursor is a plain number of pages or of records. */
  z.object({
    style: z.literal('cursor'),
    param: z.string(),
    cursor: z.string(),
    counts: z.optional(z.boolean()),
    ...shared,
  }),
  /** The leads before one of them: by its id, under each of these names, or by its time. */
  z.object({
    style: z.literal('before'),
    ids: z.array(z.string()),
    id: z.string(),
    times: z.array(z.string()),
    time: z.optional(z.number()),
    ...shared,
  }),
  z.object({
    style: z.enum(['page', 'offset']),
    param: z.string(),
    number: z.int(),
    isNamed: z.optional(z.boolean()),
    base: z.optional(z.int()),
    /** The length of all pages, where offsets are multiples of it. */
    length: z.optional(z.int()),
    /** A window that overlaps the one before it: what the next answer is compared with. */
    window: z.optional(z.object({ covered: z.int(), last: z.string(), largest: z.int(), inserted: z.int() })),
    ...shared,
  }),
]);
