import { rejectBothKeys, withValue } from '../../config/check-config.ts';
import { findSetting } from './find-setting.ts';
import type { SettingKey } from '../../config/setting-keys.ts';
import { checkValue, type Outcome } from '../flags/command-spec.ts';
import { loginCommand } from '../../config/login-command.ts';
import { readAll, secretFromPerson } from '../../config/prompt.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Profile } from '../../config/settings.ts';
import type { ConfigSetOptions } from './options.ts';

export async function run(options: ConfigSetOptions, context: Context): Promise<Outcome> {
  const key = findSetting(options.key);
  const value = checkValue(key.type, await typedValue(key, options.value, context), key.name);
  const { profile, baseUrl } = await context.settings();
  await updateProfile(context, profile, (stored) =>
    bindToOrigin(key, withValue(stored, key.path, value), baseUrl, profile),
  );
  return 'done';
}

async function typedValue(key: SettingKey, value: string | undefined, context: Context): Promise<string> {
  if (value !== undefined && value !== '-') return value;
  if (key.secret === true) return (await secretFromPerson(key.name, context)).reveal();
  if (value === '-') return (await readAll(context.stdin)).trim();
  throw new UsageError(`no value for ${key.name} was given`, {
    hint: `run 'leads config set ${key.name} VALUE'`,
  });
}

/** A key is stored together with the origin that it may be sent to. */
function bindToOrigin(
  key: SettingKey,
  profile: Profile,
  baseUrl: URL | undefined,
  profileName: string,
): Profile {
  if (key.name !== 'api-key' && key.name !== 'api-key-command') return profile;
  rejectBothKeys(profile);
  if (baseUrl === undefined) {
    throw new ConfigError('an API key is stored for one service, and no base URL is set', {
      hint: `use '${loginCommand(profileName, 'https://…')}', or set base-url first`,
    });
  }
  return { ...profile, apiKeyOrigin: baseUrl.origin };
}
