import * as z from 'zod/mini';

/** What `verify` says of one delivery; never a secret, never an expected signature. */
export const verifySchema = z.object({
  /** Whether it is genuine; null where the capture does not hold what would show it. */
  ok: z.nullable(z.boolean()),
  scheme: z.string(),
  /** Why it is not, as `listen` would name it. */
  reason: z.nullable(z.string()),
  checks: z.readonly(
    z.array(
      z.object({
        name: z.enum(['secret', 'header', 'signature', 'token', 'time', 'now']),
        /** Null where it cannot be checked. */
        ok: z.nullable(z.boolean()),
        detail: z.string(),
      }),
    ),
  ),
  /** What would match, and the flags with which `verify` takes it, where there are any. */
  wouldMatch: z.nullable(
    z.object({
      what: z.string(),
      fix: z.nullable(z.string()),
      /** Where the fix names a `scheme.json`: its text. */
      schemeFile: z.optional(z.string()),
      /** Which variable must hold which secret then. */
      environment: z.optional(z.string()),
    }),
  ),
  /** One sentence where nothing would match. */
  explanation: z.nullable(z.string()),
  /** How many combinations were tried. */
  tried: z.int(),
  form: z.string(),
  /** The time for which it was checked. */
  at: z.iso.datetime(),
  /** What the capture does not hold exactly, and what a receiver would reject besides. */
  notes: z.readonly(z.array(z.string())),
});

export type Report = z.output<typeof verifySchema>;
/** One thing that was checked. */
export type Check = Report['checks'][number];
