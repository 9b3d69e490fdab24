import * as z from 'zod/mini';

/** On stderr, in place of words, where JSON was asked for. */
export const errorSchema = z.object({
  error: z.object({
    /** Stable; the exit code follows from it. */
    code: z.string(),
    message: z.string(),
    hint: z.optional(z.string()),
    status: z.optional(z.int()),
    requestId: z.optional(z.string()),
  }),
});

/** `leads --version --json`. */
export const versionSchema = z.object({
  version: z.string(),
  node: z.string(),
  platform: z.string(),
  singleFile: z.boolean(),
});

export type ErrorLine = z.output<typeof errorSchema>;
export type Version = z.output<typeof versionSchema>;
