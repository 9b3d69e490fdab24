import * as z from 'zod/mini';
import { type SettingKey, settingKey, withValue } from '../../config/keys.ts';
import { readAll } from '../../config/prompt.ts';
import { secretFromPerson } from '../../config/secret-input.ts';
import { updateProfile } from '../../config/write.ts';
import type { Context } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Profile } from '../../config/schema.ts';
import type { Outcome } from '../command-spec.ts';
import { text } from '../values.ts';

export const options = z.object({ key: text(), value: z.optional(z.string()) });

export async function run(flags: z.output<typeof options>, context: Context): Promise<Outcome> {
  const key = settingKey(flags.key);
  const value = key.parse(await givenValue(key, flags.value, context));
  const { profile, baseUrl } = await context.settings();
  await updateProfile(context, profile, (stored) =>
    bindKey(key, withValue(stored, key.path, value), baseUrl),
  );
  return 'done';
}

async function givenValue(key: SettingKey, value: string | undefined, context: Context): Promise<string> {
  if (value !== undefined && value !== '-') return value;
  if (key.secret === true) return (await secretFromPerson(key.name, context)).reveal();
  if (value === '-') return (await readAll(context.stdin)).trim();
  throw new UsageError(`no value for ${key.name} was given`, { hint: `leads config set ${key.name} VALUE` });
}

/** A key is stored together with the origin that it may be sent to. */
function bindKey(key: SettingKey, profile: Profile, baseUrl: URL | undefined): Profile {
  if (key.name !== 'api-key') return profile;
  if (baseUrl === undefined) {
    throw new ConfigError('an API key is stored for one service, and no base URL is set', {
      hint: "first 'leads config set base-url https://…', or use 'leads login'",
    });
  }
  return { ...profile, apiKeyOrigin: baseUrl.origin };
}
