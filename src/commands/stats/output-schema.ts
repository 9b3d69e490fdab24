import * as z from 'zod/mini';

const time = z.iso.datetime();
const counts = z.record(z.string(), z.int());
const share = z.nullable(z.number());

const figures = z.object({
  window: z.object({ since: z.nullable(time), until: z.nullable(time) }),
  total: z.int(),
  /** Leads whose time cannot be read. */
  undated: z.int(),
  /** By a field's name, then by its value. */
  by: z.record(z.string(), counts),
  /** With two fields: by the value of one, then of the other. */
  matrix: z.optional(z.record(z.string(), counts)),
  /** Of `series`. */
  bucket: z.string(),
  series: z.array(z.object({ start: time, count: z.int() })),
  inbox: z.optional(
    z.object({
      received: z.int(),
      accepted: z.int(),
      duplicate: z.int(),
      pending: z.int(),
      rejected: z.int(),
      byReason: counts,
      other: z.int(),
      backfilled: z.int(),
      /** From creation to first receipt. */
      delayMs: z.object({ p50: share, p90: share, p95: share, p99: share }),
      attemptsPerLead: share,
      longestGapMs: share,
    }),
  ),
});

/** What `--json` prints. Times are ISO 8601 in UTC, durations milliseconds. */
export const statsSchema = z.extend(figures, {
  previous: z.optional(figures),
  expect: z.optional(
    z.array(z.object({ expectation: z.string(), holds: z.boolean(), seen: z.nullable(z.number()) })),
  ),
});

export type StatsFigures = z.output<typeof figures>;
export type StatsDocument = z.output<typeof statsSchema>;
