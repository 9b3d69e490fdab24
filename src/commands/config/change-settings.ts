import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { type Profile, rejectBothKeys, valueAt, withValue } from '../../config/check-config.ts';
import { configFile } from '../../config/directories.ts';
import { loginCommand } from '../../front.ts';
import { secretFromPerson } from '../../config/prompt.ts';
import { type SettingKey, settingKeys } from '../../config/setting-keys.ts';
import type { Settings } from '../../config/load-settings.ts';
import { readConfig } from '../../config/read-config.ts';
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
  await updateProfile(context, settings.profile, (stored) =>
    bindToOrigin(key, withValue(stored, key.path, value), settings),
  );
  return 'done';
}

async function typedValue(key: SettingKey, value: string | undefined, context: Context): Promise<string> {
  if (value !== undefined && value !== '-') return value;
  // This asks on a terminal, and reads stdin otherwise.
  if (key.secret === true) return (await secretFromPerson(key.name, context)).reveal();
  if (value === '-') return (await text(context.stdin)).trim();
  throw new UsageError(`no value for ${key.name} was given`, {
    hint: `run 'leads config set ${key.name} VALUE'`,
  });
}

/** Refuses a second API key beside a stored one, and binds a secret of one service to the origin of that service. */
function bindToOrigin({ name, origin }: SettingKey, profile: Profile, settings: Settings): Profile {
  if (origin === undefined) return profile;
  rejectBothKeys(profile);
  const { baseUrl, profile: profileName } = settings;
  if (baseUrl === undefined) {
    throw new ConfigError(`${name} is stored for one service, and no base URL is set`, {
      hint: `use '${loginCommand(profileName)}', or set base-url first`,
    });
  }
  return { ...profile, [origin]: baseUrl.origin };
}

/** Removes a setting. A stored origin goes with the last secret that is bound to it. */
export async function unsetSetting(options: { readonly key: string }, context: Context): Promise<Outcome> {
  const { path, origin } = findSetting(options.key);
  const { profile: profileName } = await context.settings();
  await updateProfile(context, profileName, (stored) => {
    const profile = withValue(stored, path, undefined);
    if (origin === undefined) return profile;
    const isBound = settingKeys.some(
      (key) => key.origin === origin && valueAt(profile, key.path) !== undefined,
    );
    return isBound ? profile : withValue(profile, [origin], undefined);
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

/** Removes a profile. When it is the one that `useProfile` chose, the profile `default` is used from then on. */
export async function removeProfile({ name }: { readonly name: string }, context: Context): Promise<Outcome> {
  rejectUnknownProfile(name, context);
  await updateConfig(context, (config) => {
    const { [name]: _removed, ...profiles } = config.profiles ?? {};
    const { profile, ...settings } = config;
    return { ...settings, ...(profile === undefined || profile === name ? {} : { profile }), profiles };
  });
  context.messages.say(`profile '${name}' is removed`);
  return 'done';
}

function rejectUnknownProfile(name: string, { paths }: Pick<Context, 'paths'>, advice?: string): void {
  const names = Object.keys(readConfig(paths.configDir).profiles ?? {});
  if (names.includes(name)) return;
  const list = names.length === 0 ? 'no profile is stored' : `profiles: ${names.join(', ')}`;
  throw new UsageError(`there is no profile '${name}'`, {
    hint: didYouMean(name, names) ?? [list, advice].filter((part) => part !== undefined).join('; or '),
  });
}

/** Opens the configuration file, a broken one too, in the editor of the environment, and checks what was saved. */
export async function editConfig(_options: unknown, context: Context): Promise<Outcome> {
  const { env, paths, platform, stdin, stdout } = context;
  const path = configFile(paths.configDir);
  // Makes a missing file, readable by the user alone. A file that cannot be parsed is what the editor is for.
  await updateConfig(context, (config) => config).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
  });
  const hasTerminal = stdin.isTTY === true && stdout.isTTY === true;
  const fallback = platform === 'win32' ? 'notepad' : hasTerminal && 'vi';
  const editor = env['VISUAL'] || env['EDITOR'] || fallback;
  const hint = `set EDITOR to one that there is, such as EDITOR=nano, or edit ${path}`;
  if (editor === false) throw new ConfigError('the editor vi needs a terminal', { hint });
  const code = await runEditor(editor, path, platform);
  if (code !== 0) {
    throw new ConfigError(`the editor '${editor}' ended with ${code ?? 'a signal'}`, {
      hint: code === 126 || code === 127 ? hint : `the file is ${path}`,
    });
  }
  // The saved file is read here for the first time in this run: a broken file throws, and the getter of `baseUrl` for a bad URL.
  const { baseUrl: _ } = await context.settings();
  return 'done';
}

/**
 * Runs an editor command, which may have flags as those of git and crontab may. Returns its exit code: null after a signal, 127
 * where it cannot be started.
 */
function runEditor(editor: string, path: string, platform: string): Promise<number | null> {
  const [program, words] =
    platform === 'win32' ? [editor, [path]] : ['/bin/sh', ['-c', `${editor} "$1"`, editor, path]];
  return new Promise((resolve) => {
    const child = spawn(program, words, { stdio: 'inherit' });
    child.once('error', () => resolve(127));
    child.once('close', resolve);
  });
}
