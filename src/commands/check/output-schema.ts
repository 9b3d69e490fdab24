import * as z from 'zod/mini';

const result = z.enum(['pass', 'fail', 'warn', 'skip']);
const probe = {
  /** Stable. */
  name: z.string(),
  group: z.string(),
  rule: z.string(),
  level: z.enum(['must', 'should', 'info']),
  expected: z.string(),
};

/** A line of `--json`: one for each probe, then the summary; with `--list` the probes alone, without a `type`. */
export const checkSchema = z.union([
  z.object({
    type: z.literal('probe'),
    ...probe,
    result,
    /** Null for a probe that was skipped; in it null where no answer came. */
    seen: z.nullable(
      z.object({ status: z.nullable(z.int()), ms: z.number(), answer: z.nullable(z.string()) }),
    ),
    detail: z.string(),
    hint: z.nullable(z.string()),
    /** Asks the same again. */
    curl: z.nullable(z.string()),
    /** It fails, and the baseline says so. */
    known: z.optional(z.literal(true)),
  }),
  z.object({
    type: z.literal('summary'),
    target: z.string(),
    pass: z.int(),
    fail: z.int(),
    warn: z.int(),
    skip: z.int(),
    /** Leads that the receiver took. */
    accepted: z.array(z.string()),
  }),
  z.object(probe),
]);

export type CheckLine = z.output<typeof checkSchema>;
