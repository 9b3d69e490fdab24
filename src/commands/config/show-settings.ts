import { withoutPassword } from '../../config/base-url.ts';
import { type Profile, valueAt } from '../../config/check-config.ts';
import { requestedProfile } from '../../config/load-settings.ts';
import { readConfig } from '../../config/read-config.ts';
import { Secret } from '../../secret.ts';
import { configFile } from '../../config/directories.ts';
import { type SettingKey, settingKeys } from '../../config/setting-keys.ts';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { sanitize } from '../../output/terminal/terminal.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { writeTable } from '../../output/table.ts';
import { didYouMean } from '../../output/suggest.ts';

interface EffectiveSetting {
  readonly key: string;
  /** The text that people see: the last four characters of a secret, and other values than texts as JSON. */
  readonly value: string;
  readonly from: 'flag' | 'environment' | 'profile' | 'default';
}

interface ListOptions {
  readonly format: string;
}

export async function listSettings({ format }: ListOptions, context: Context): Promise<Outcome> {
  const { stdout } = context;
  const settings = await effectiveSettings(context);
  const rows = settings.map(({ key, value, from }) => [key, value, from]);
  const fit = { cutLast: ['KEY', 'VALUE'], narrowing: [{ drop: 'FROM' }] };
  if (format === 'json') await writeJson(stdout, settings, 2);
  else await writeTable(['KEY', 'VALUE', 'FROM'], rows, fit, context);
  return 'done';
}

type Sources = Pick<Context, 'env' | 'globals'>;
type Source = readonly [value: unknown, from: EffectiveSetting['from']];

/** Every setting that has a value, with the source that it comes from. The name of the profile is first. */
async function effectiveSettings(context: Context): Promise<EffectiveSetting[]> {
  const { profile: name } = await context.settings();
  const config = readConfig(context.paths.configDir);
  const profile = config.profiles?.[name] ?? {};
  const settings = settingKeys.flatMap((key) => effectiveSetting(key, profile, context) ?? []);
  return [{ key: 'profile', value: name, from: profileOrigin(context, config.profile) }, ...settings];
}

function effectiveSetting(
  { name, path, secret, flag, variable, default: defaultValue, withoutSecrets }: SettingKey,
  profile: Profile,
  { globals, env }: Sources,
): EffectiveSetting | undefined {
  const sources: readonly Source[] = [
    [flag && globals[flag], 'flag'],
    [variable && env[variable], 'environment'],
    [valueAt(profile, path), 'profile'],
    [defaultValue, 'default'],
  ];
  const [inForce, from] = sources.find(hasValue) ?? [];
  if (inForce === undefined || from === undefined) return undefined;
  const value = textOf(withoutSecrets === undefined ? inForce : withoutSecrets(inForce));
  return { key: name, value: secret === true ? new Secret(value).toString() : value, from };
}

/** An empty variable counts as missing; an empty JSON Pointer may be stored. */
const hasValue = ([value, from]: Source): boolean =>
  value !== undefined && (value !== '' || from === 'profile');

function profileOrigin({ globals, env }: Sources, stored: string | undefined): EffectiveSetting['from'] {
  const name = requestedProfile(globals, env);
  if (name === undefined) return stored === undefined ? 'default' : 'profile';
  return name === globals.profile ? 'flag' : 'environment';
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export async function getSetting({ key }: { readonly key: string }, context: Context): Promise<Outcome> {
  const { name } = findSetting(key);
  const setting = (await effectiveSettings(context)).find(({ key: candidate }) => candidate === name);
  if (setting === undefined)
    throw new ConfigError(`${name} is not set`, { hint: `leads config set ${name} …` });
  await write(context.stdout, `${sanitize(setting.value)}\n`);
  return 'done';
}

export async function printPath(_options: unknown, context: Context): Promise<Outcome> {
  await write(context.stdout, `${configFile(context.paths.configDir)}\n`);
  return 'done';
}

export async function listProfiles({ format }: ListOptions, context: Context): Promise<Outcome> {
  const { stdout, paths, messages } = context;
  const { profile: current } = await context.settings();
  const stored = readConfig(paths.configDir).profiles ?? {};
  const profiles = Object.entries(stored).map(([name, profile]) => ({
    name,
    current: name === current,
    baseUrl: profile['base-url'] === undefined ? null : withoutPassword(profile['base-url']),
    hasKey: profile['api-key'] !== undefined || profile['api-key-command'] !== undefined,
  }));
  if (format === 'json') {
    await writeJson(stdout, profiles, 2);
    return 'done';
  }
  if (profiles.length === 0) {
    messages.say("no profile is stored: 'leads login' makes one");
    return 'done';
  }
  const rows = profiles.map(({ name, current: isCurrent, baseUrl, hasKey }) => {
    const keySource = stored[name]?.['api-key'] === undefined ? 'command' : 'stored';
    return [isCurrent ? '*' : '', name, baseUrl ?? '', hasKey ? keySource : ''];
  });
  const fit = { cutLast: ['', 'PROFILE', 'BASE URL'], narrowing: [{ drop: 'API KEY' }] };
  await writeTable(['', 'PROFILE', 'BASE URL', 'API KEY'], rows, fit, context);
  return 'done';
}

/** Throws a `UsageError` for a name that no setting has, with the most similar name, or all names. */
export function findSetting(name: string): SettingKey {
  const key = settingKeys.find((candidate) => candidate.name === name);
  if (key !== undefined) return key;
  const names = settingKeys.map((candidate) => candidate.name);
  const joined = settingKeys.find((candidate) => name.startsWith(`${candidate.name}=`));
  if (joined !== undefined) {
    const value = name.slice(joined.name.length + 1);
    const mayHoldSecret = joined.secret ?? joined.withoutSecrets ?? joined.origin;
    const safeValue = mayHoldSecret === undefined && /^[\w.:/-]+$/.test(value) ? value : 'VALUE';
    const hint = `'leads config set ${joined.name} ${safeValue}'`;
    throw new UsageError(`${joined.name}: a blank stands before the value, not =`, { hint });
  }
  const inGroup = names.find((candidate) => candidate.endsWith(`.${name}`));
  throw new UsageError(`there is no setting '${name}'`, {
    hint: didYouMean(inGroup ?? name, names) ?? `settings: ${names.join(', ')}`,
  });
}
