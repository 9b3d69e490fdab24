import { text } from 'node:stream/consumers';
import { rejectBothKeys, valueAt, withValue } from '../../config/check-config.ts';
import { loginCommand } from '../../front.ts';
import { secretFromPerson } from '../../config/prompt.ts';
import { type SettingKey, settingKeys } from '../../config/setting-keys.ts';
import { type Settings, readConfig } from '../../config/load-settings.ts';
import type { Profile } from '../../config/settings.ts';
import { updateConfig, updateProfile } from '../../config/write-config.ts';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { checkValue } from '../flags/command-spec.ts';
import { storableScheme } from '../flags/resolve-scheme.ts';
import { didYouMean } from '../../output/suggest.ts';
import { findSetting } from './show-settings.ts';

export async function setSetting(
  options: { readonly key: string; readonly value: string | undefined },
  context: Context,
): Promise<Outcome> {
  const key = findSetting(options.key);
  const typed = checkValue(key.type, await typedValue(key, options.value, context), key.name);
  const value = key.name === 'webhook.scheme' ? await storableScheme(String(typed)) : typed;
  const settings = await context.settings();
  const { profile } = settings;
  const change = (stored: Profile): Profile =>
    bindToOrigin(key, withValue(stored, key.path, value), settings);
  await updateProfile(context, profile, change);
  return 'done';
}

async function typedValue(key: SettingKey, value: string | undefined, context: Context): Promise<string> {
  if (value !== undefined && value !== '-') return value;
  if (key.secret === true) return (await secretFromPerson(key.name, context)).reveal();
  if (value === '-') return (await text(context.stdin)).trim();
  throw new UsageError(`no value for ${key.name} was given`, {
    hint: `run 'leads config set ${key.name} VALUE'`,
  });
}

/** What only one service may be sent is stored together with the origin of that. */
function bindToOrigin({ name, origin }: SettingKey, profile: Profile, settings: Settings): Profile {
  if (origin === undefined) return profile;
  rejectBothKeys(profile);
  const { baseUrl, profile: profileName } = settings;
  if (baseUrl === undefined) {
    throw new ConfigError(`${name} is stored for one service, and no base URL is set`, {
      hint: `use '${loginCommand(profileName, 'https://…')}', or set base-url first`,
    });
  }
  return { ...profile, [origin]: baseUrl.origin };
}

export async function unsetSetting({ key }: { readonly key: string }, context: Context): Promise<Outcome> {
  const { path, origin } = findSetting(key);
  const { profile } = await context.settings();
  await updateProfile(context, profile, (stored) => {
    const rest = withValue(stored, path, undefined);
    const isBound = settingKeys.some((one) => one.origin === origin && valueAt(rest, one.path) !== undefined);
    return origin === undefined || isBound ? rest : withValue(rest, [origin], undefined);
  });
  return 'done';
}

/** Makes a profile the one that is used when neither `--profile` nor `LEADS_PROFILE` names one. */
export async function useProfile({ name }: { readonly name: string }, context: Context): Promise<Outcome> {
  if (name !== 'default') rejectUnknownProfile(name, context, `make it with '${loginCommand(name)}'`);
  await updateConfig(context, (config) => ({ ...config, profile: name }));
  context.messages.say(`profile '${name}' is used from now on`);
  if ((context.env['LEADS_PROFILE'] ?? '') !== '') {
    context.messages.note('env-profile', 'LEADS_PROFILE is set and goes before it');
  }
  return 'done';
}

/** The profile that is used by default is `default` again where it was this one. */
export async function removeProfile({ name }: { readonly name: string }, context: Context): Promise<Outcome> {
  rejectUnknownProfile(name, context);
  await updateConfig(context, (config) => {
    const { [name]: _removed, ...profiles } = config.profiles ?? {};
    const { profile, ...rest } = config;
    return { ...rest, ...(profile === undefined || profile === name ? {} : { profile }), profiles };
  });
  context.messages.say(`profile '${name}' is removed`);
  return 'done';
}

function rejectUnknownProfile(name: string, { paths }: Pick<Context, 'paths'>, advice?: string): void {
  const known = Object.keys(readConfig(paths.configDir).profiles ?? {});
  if (known.includes(name)) return;
  const list = known.length === 0 ? 'no profile is stored' : `profiles: ${known.join(', ')}`;
  throw new UsageError(`there is no profile '${name}'`, {
    hint: didYouMean(name, known) ?? [list, advice].filter((part) => part !== undefined).join('; or '),
  });
}
