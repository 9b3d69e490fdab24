import * as z from 'zod/mini';

/** One setting of `config list`. */
export const configListSchema = z.object({
  key: z.string(),
  /** A secret shows its last four characters only. */
  value: z.string(),
  from: z.enum(['flag', 'environment', 'profile', 'default']),
});

/** One profile of `config profiles`. */
export const configProfilesSchema = z.object({
  name: z.string(),
  current: z.boolean(),
  baseUrl: z.nullable(z.string()),
  hasKey: z.boolean(),
});

export type EffectiveSetting = z.output<typeof configListSchema>;
export type StoredProfile = z.output<typeof configProfilesSchema>;
