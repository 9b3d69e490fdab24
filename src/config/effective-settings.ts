import type { Host } from '../host.ts';
import { Secret } from '../secret.ts';
import { profileName } from './load-settings.ts';
import { valueAt } from './check-config.ts';
import { readConfig } from './read-config.ts';
import type { Paths } from './directories.ts';
import type { Settings } from './load-settings.ts';
import type { Globals, Profile } from './settings.ts';
import { formerSettings, type SettingKey, settingKeys } from './setting-keys.ts';

export interface EffectiveSetting {
  readonly key: string;
  /** A secret shows its last four characters only. */
  readonly value: string;
  readonly from: 'flag' | 'environment' | 'profile' | 'default';
}

type Sources = Pick<Host, 'env'> & { readonly globals: Globals };

/** Every setting that has a value, with the place it comes from, the profile's name first. */
export async function effectiveSettings(
  context: Sources & { readonly paths: Paths; settings(): Promise<Settings> },
): Promise<EffectiveSetting[]> {
  const { profile: name } = await context.settings();
  const config = readConfig(context.paths.configDir);
  const profile = config.profiles?.[name] ?? {};
  const settings = [...settingKeys, ...formerSettings].flatMap(
    (key) => effectiveSetting(key, profile, context) ?? [],
  );
  return [{ key: 'profile', value: name, from: profileOrigin(context, config.profile) }, ...settings];
}

function effectiveSetting(
  { name, path, secret, flag, variable, default: usual, shown = (stored) => stored }: SettingKey,
  profile: Profile,
  { globals, env }: Sources,
): EffectiveSetting | undefined {
  const stored = valueAt(profile, path);
  const candidates: readonly (readonly [string | undefined, EffectiveSetting['from']])[] = [
    [flag && globals[flag], 'flag'],
    [variable && env[variable], 'environment'],
    [stored === undefined ? undefined : storedText(shown(stored)), 'profile'],
    [usual, 'default'],
  ];
  const [value, from] = candidates.find(isGiven) ?? [];
  if (value === undefined || from === undefined) return undefined;
  return { key: name, value: secret === true ? new Secret(value).toString() : value, from };
}

/** An empty flag or variable is none; an empty JSON Pointer that is stored is one. */
const isGiven = ([text, from]: readonly [string | undefined, EffectiveSetting['from']]): boolean =>
  text !== undefined && (text !== '' || from === 'profile');

function profileOrigin({ globals, env }: Sources, stored: string | undefined): EffectiveSetting['from'] {
  const named = profileName(globals, env);
  if (named === undefined) return stored === undefined ? 'default' : 'profile';
  return named === globals.profile ? 'flag' : 'environment';
}

const storedText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
