import * as z from 'zod/mini';
import { dialectSchema } from '../dialect.ts';
import type { CustomSchemeKey } from '../setting-keys.ts';
import { parseDuration } from '../../time/duration.ts';

/** The parts of `--scheme custom`, as the user wrote them; checked where they are used. */
const customSchemeSchema = z.strictObject({
  signatureHeader: z.optional(z.string()),
  algorithm: z.optional(z.string()),
  encoding: z.optional(z.string()),
  prefix: z.optional(z.string()),
  signedContent: z.optional(z.string()),
  timestampHeader: z.optional(z.string()),
  timestampFormat: z.optional(z.string()),
  nonceHeader: z.optional(z.string()),
  secretEncoding: z.optional(z.string()),
} satisfies Record<CustomSchemeKey, unknown>);

/** What one account has stored. Secrets are plain text in the file, which is why it is 0600. */
export const profileSchema = z.strictObject({
  baseUrl: z.optional(z.string()),
  apiKey: z.optional(z.string()),
  /** The origin that the key was stored for: it is sent nowhere else. */
  apiKeyOrigin: z.optional(z.string()),
  timeout: z.optional(z.string().check(z.refine((text) => (parseDuration(text) ?? 0) > 0))),
  retries: z.optional(z.int().check(z.nonnegative())),
  webhook: z.optional(
    z.strictObject({
      scheme: z.optional(z.string()),
      token: z.optional(z.string()),
      secret: z.optional(z.string()),
      tolerance: z.optional(z.string()),
      custom: z.optional(customSchemeSchema),
    }),
  ),
  api: z.optional(dialectSchema),
});

export const configSchema = z.strictObject({
  /** Used when neither `--profile` nor `LEADS_PROFILE` names one. */
  profile: z.optional(z.string()),
  profiles: z.optional(z.record(z.string(), profileSchema)),
});

export type StoredCustomScheme = z.output<typeof customSchemeSchema>;
export type Profile = z.output<typeof profileSchema>;
export type Config = z.output<typeof configSchema>;
