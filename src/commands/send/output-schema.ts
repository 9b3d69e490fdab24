import * as z from 'zod/mini';

const percentiles = z.nullable(
  z.object({ p50: z.number(), p90: z.number(), p99: z.number(), max: z.number() }),
);

const attempt = z.object({
  type: z.literal('attempt'),
  /** Of the lead; null where it has none. */
  id: z.nullable(z.string()),
  attempt: z.int(),
  /** Null where no answer came. */
  status: z.nullable(z.int()),
  /** From the time at which it was to start. */
  latencyMs: z.number(),
  serviceMs: z.number(),
  answer: z.string(),
  error: z.optional(z.string()),
  /** When it is tried again. */
  retryInMs: z.optional(z.number()),
});

const summary = z.object({
  type: z.literal('summary'),
  openLoop: z.boolean(),
  /** Leads times repeats, as far as they were started. */
  deliveries: z.int(),
  attempts: z.int(),
  acknowledged: z.int(),
  failed: z.int(),
  byStatus: z.record(z.string(), z.int()),
  latencyMs: percentiles,
  serviceMs: percentiles,
  /** Deliveries a second, while some were started. */
  achievedRate: z.number(),
  late: z.int(),
});

/** A line of `--json`: one for each attempt, then the summary. */
export const sendSchema = z.discriminatedUnion('type', [attempt, summary]);

export type SendLine = z.output<typeof sendSchema>;
export type AttemptLine = z.output<typeof attempt>;
export type SendSummary = z.output<typeof summary>;
