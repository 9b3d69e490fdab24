import * as z from 'zod/mini';

/*
 * The form of a position: where a page of the list begins. A checkpoint stores it as JSON, so that a later run continues there, and
 * this schema checks what such a file holds. It is apart from `position.ts` so that only what reads such a file loads zod.
 */

/**
 * Members of every position that are for the walk that continues there, and do not say where it is. `size`: records requested per page;
 * page numbers mean the same places with the same size only. `lacksRunBefore`: no lead of the earlier run that is asked for again had
 * come before this position. `totals`: leads `met` before it, and the number of all leads, by the `first` and the `last` answer so far.
 */
export const carriedAlong = {
  size: z.optional(z.int()),
  lacksRunBefore: z.optional(z.boolean()),
  totals: z.optional(z.object({ met: z.int(), first: z.int(), last: z.int() })),
};

export const positionSchema = z.discriminatedUnion('style', [
  z.object({ style: z.literal('start'), ...carriedAlong }),
  /** A `Link` header or a next URL in the body; absolute, of the service's own origin. */
  z.object({ style: z.literal('url'), url: z.string(), ...carriedAlong }),
  /** `counts`: the service's cursor is a plain number of pages or of records. */
  z.object({
    style: z.literal('cursor'),
    param: z.string(),
    cursor: z.string(),
    counts: z.optional(z.boolean()),
    ...carriedAlong,
  }),
  /** The leads that follow one of them: its id is sent under each name of `ids`, its time (ms since the epoch) under each of `times`. */
  z.object({
    style: z.literal('before'),
    ids: z.array(z.string()),
    id: z.string(),
    times: z.array(z.string()),
    time: z.optional(z.number()),
    ...carriedAlong,
  }),
  /**
   * The page with this number, or the leads after so many. `base`: the number of the first page, or the first offset. `isNamed`: an
   * answer named this number, and so it will the next one. `length`: the distance between two offsets. `window`: the page overlaps
   * what was read: `covered` records, the id of the `last` one, the `largest` page so far, and records `inserted` before them.
   */
  z.object({
    style: z.enum(['page', 'offset']),
    param: z.string(),
    number: z.int(),
    isNamed: z.optional(z.boolean()),
    base: z.optional(z.int()),
    length: z.optional(z.int()),
    window: z.optional(z.object({ covered: z.int(), last: z.string(), largest: z.int(), inserted: z.int() })),
    ...carriedAlong,
  }),
]);
