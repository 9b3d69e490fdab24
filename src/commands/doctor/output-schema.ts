import * as z from 'zod/mini';

/** A line of `--json`: one for each check, one for each key that was learnt, and the summary behind them. */
export const doctorSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('check'),
    /** Stable: its group and its name, such as `service.tls`. */
    name: z.string(),
    result: z.enum(['pass', 'warn', 'fail', 'skip']),
    detail: z.string(),
    hint: z.nullable(z.string()),
  }),
  z.object({
    type: z.literal('learnt'),
    key: z.string(),
    value: z.unknown(),
    evidence: z.string(),
    /** What the profile held. */
    old: z.optional(z.unknown()),
  }),
  z.object({
    type: z.literal('summary'),
    pass: z.int(),
    warn: z.int(),
    fail: z.int(),
    skip: z.int(),
    /** That the service was asked for its dialect. */
    requests: z.int(),
    /** Keys that `--learn` found, and those that were written; null where nothing was to be. */
    learnt: z.int(),
    written: z.nullable(z.int()),
  }),
]);

export type DoctorLine = z.output<typeof doctorSchema>;
