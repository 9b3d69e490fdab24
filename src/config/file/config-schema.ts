import * as z from 'zod/mini';
import { dialectSchema } from '../dialect.ts';
import type { CustomSchemeKey } from '../setting-keys.ts';
import { parseDuration } from '../../time/duration.ts';

/** One schema for all settings that are text: every start makes them, and each takes time. */
const text = z.optional(z.string());

/** The parts of `--scheme custom`, as the user wrote them; checked where they are used. */
const customSchemeSchema = z.strictObject({
  signatureHeader: text,
  signatureHeaders: text,
  algorithm: text,
  encoding: text,
  prefix: text,
  separator: text,
  signedContent: text,
  timestampHeader: text,
  timestampPrefix: text,
  timestampFormat: text,
  nonceHeader: text,
  secretEncoding: text,
} satisfies Record<CustomSchemeKey, unknown>);

/** What one account has stored. Secrets are plain text in the file, which is why it is 0600. */
export const profileSchema = z.strictObject({
  baseUrl: text,
  apiKey: text,
  /** The origin that the key was stored for: it is sent nowhere else. */
  apiKeyOrigin: text,
  timeout: z.optional(z.string().check(z.refine((given) => (parseDuration(given) ?? 0) > 0))),
  retries: z.optional(z.int().check(z.nonnegative())),
  webhook: z.optional(
    z.strictObject({
      scheme: text,
      token: text,
      secret: text,
      tolerance: text,
      tokenHeader: text,
      headerPrefix: text,
      require: text,
      custom: z.optional(customSchemeSchema),
    }),
  ),
  api: z.optional(dialectSchema),
});

export const configSchema = z.strictObject({
  /** Used when neither `--profile` nor `LEADS_PROFILE` names one. */
  profile: text,
  profiles: z.optional(z.record(z.string(), profileSchema)),
});

export type StoredCustomScheme = z.output<typeof customSchemeSchema>;
export type Profile = z.output<typeof profileSchema>;
export type Config = z.output<typeof configSchema>;
