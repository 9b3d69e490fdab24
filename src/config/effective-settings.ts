import type { Context } from '../context.ts';
import { Secret } from '../secret.ts';
import { settingKeys, valueAt } from './keys.ts';
import { profileName } from './load.ts';
import { readConfig } from './read.ts';

export interface EffectiveSetting {
  readonly key: string;
  /** A secret shows its last four characters only. */
  readonly value: string;
  readonly from: 'flag' | 'environment' | 'profile' | 'default';
}

const variables: Readonly<Record<string, string>> = {
  'base-url': 'LEADS_BASE_URL',
  'api-key': 'LEADS_API_KEY',
  'webhook.token': 'LEADS_WEBHOOK_TOKEN',
  'webhook.secret': 'LEADS_WEBHOOK_SECRET',
};

const defaults: Readonly<Record<string, string>> = { timeout: '30s', retries: '5' };

/** Every setting that has a value, with the place it comes from, the profile's name first. */
export async function effectiveSettings(
  context: Pick<Context, 'globals' | 'env' | 'paths' | 'settings'>,
): Promise<EffectiveSetting[]> {
  const { globals, env, paths } = context;
  const { profile: name } = await context.settings();
  const config = readConfig(paths.configDir);
  const profile = config.profiles?.[name] ?? {};
  const flags: Readonly<Record<string, string | undefined>> = {
    'base-url': globals.baseUrl,
    timeout: globals.timeout,
    retries: globals.retries,
  };
  const settings = settingKeys.flatMap(({ name: key, path, secret }): EffectiveSetting[] => {
    const stored = valueAt(profile, path);
    const candidates: readonly (readonly [string | undefined, EffectiveSetting['from']])[] = [
      [flags[key], 'flag'],
      [env[variables[key] ?? ''], 'environment'],
      [stored === undefined ? undefined : storedText(stored), 'profile'],
      [defaults[key], 'default'],
    ];
    const [value, from] = candidates.find(([one]) => one !== undefined && one !== '') ?? [];
    if (value === undefined || from === undefined) return [];
    return [{ key, value: secret === true ? new Secret(value).toString() : value, from }];
  });
  const asked = profileName(globals, env);
  const origin = asked === undefined ? 'profile' : asked === globals.profile ? 'flag' : 'environment';
  const chosen: EffectiveSetting = {
    key: 'profile',
    value: name,
    from: origin === 'profile' && config.profile === undefined ? 'default' : origin,
  };
  return [chosen, ...settings];
}

const storedText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
