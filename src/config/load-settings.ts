import { lstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { closeToOthers } from '../files/modes.ts';
import { Secret } from '../secret.ts';
import { longestTimerMs, parseDuration } from '../time/time-text.ts';
import { type Paths, configFile } from './directories.ts';
import { parseBaseUrl } from './base-url.ts';
import {
  configInvalid,
  configNotJson,
  configOfAnotherUser,
  configOfNewerVersion,
  configUnreadable,
  invalidRetries,
  invalidTimeout,
  keyCommandOfAnotherOrigin,
  keyOfAnotherOrigin,
  noApiKey,
  noBaseUrl,
  twoKeysOfAProfile,
  unknownProfile,
  unsendableKey,
} from './errors.ts';
import { dialectOf } from './dialect.ts';
import type { Account, AccountSettings, CommandKey, Config, Globals } from './settings.ts';
import { configVersion, faultsInConfig } from './check-config.ts';
import { ConfigError } from '../errors.ts';
import type { Json } from '../json/exact.ts';

interface Sources {
  readonly globals: Globals;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly paths: Paths;
  readonly allowsNewProfile: boolean;
}

export type Settings = ReturnType<typeof loadSettings>;

/**
 * Flag > environment > profile > default. Throws a `ConfigError` for an unreadable file, and for a named profile that is
 * not stored while others are.
 */
export function loadSettings({ globals, env, paths, allowsNewProfile }: Sources) {
  const unknown: string[] = [];
  const config = readConfig(paths.configDir, (path) => unknown.push(path.join('.')));
  const typedName = profileName(globals, env);
  const name = typedName ?? config.profile ?? 'default';
  const profiles = config.profiles ?? {};
  if (typedName !== undefined && name !== 'default' && !allowsNewProfile)
    rejectUnknownProfile(name, profiles);
  const profile = profiles[name] ?? {};
  const { webhook = {}, listen = {} } = profile;
  const address = nonEmpty(globals.baseUrl) ?? nonEmpty(env['LEADS_BASE_URL']) ?? profile['base-url'];
  const baseUrl = (): URL | undefined => (address === undefined ? undefined : parseBaseUrl(address));
  const dialect = dialectOf(profile);
  return {
    profile: name,
    /** The paths in the configuration file that this release does not know. */
    unknown,
    /** Throws a `ConfigError` for one that cannot be used, so that it stops no command that does not ask for it. */
    get baseUrl() {
      return baseUrl();
    },
    /** Base URL and key, or a `ConfigError` that says which is missing and how to give it. */
    account: () => accountOf(baseUrl(), name, profiles, nonEmpty(env['LEADS_API_KEY'])),
    dialect,
    /** The origin that the dialect's headers are for; without one they are sent nowhere. */
    headersOrigin: profile['headers-origin'],
    webhookToken: secret(nonEmpty(env['LEADS_WEBHOOK_TOKEN']) ?? webhook.token),
    webhookSecret: secret(nonEmpty(env['LEADS_WEBHOOK_SECRET']) ?? webhook.secret),
    webhookScheme: webhook.scheme,
    /** The place of the lead in the body of a delivery: a JSON Pointer, or `auto`. */
    webhookLead: webhook.lead,
    webhookId: webhook.id ?? dialect.id ?? 'id',
    /** Whether genuine deliveries without any field of a lead are taken. */
    takesOtherEvents: webhook['other-events'] === 'accept',
    /** After a signal, `listen` goes on so long. */
    drainDelayMs: parseDuration(listen['drain-delay'] ?? '0s') ?? 0,
    timeoutMs: timeout(globals.timeout, profile.timeout),
    retries: retries(globals.retries, profile.retries),
    zone: profile.zone ?? 'UTC',
  };
}

export function profileName(globals: Globals, env: Sources['env']): string | undefined {
  return nonEmpty(globals.profile) ?? nonEmpty(env['LEADS_PROFILE']);
}

function accountOf(
  baseUrl: URL | undefined,
  name: string,
  profiles: NonNullable<Config['profiles']>,
  keyFromEnv: string | undefined,
): AccountSettings & (Pick<Account, 'apiKey'> | CommandKey) {
  if (baseUrl === undefined) {
    rejectUnknownProfile(name, profiles);
    throw noBaseUrl(name);
  }
  if (keyFromEnv !== undefined) {
    return { profile: name, baseUrl, apiKey: sendable(keyFromEnv, 'LEADS_API_KEY') };
  }
  const { 'api-key': apiKey, 'api-key-command': command, 'api-key-origin': boundTo } = profiles[name] ?? {};
  const { origin } = baseUrl;
  if (command !== undefined) {
    if (apiKey !== undefined) throw twoKeysOfAProfile();
    if (boundTo !== origin) throw keyCommandOfAnotherOrigin(boundTo, origin);
    return { profile: name, baseUrl, apiKeyCommand: command };
  }
  if (apiKey === undefined) {
    rejectUnknownProfile(name, profiles);
    throw noApiKey(name);
  }
  if (boundTo !== origin) throw keyOfAnotherOrigin(name, boundTo, origin);
  return { profile: name, baseUrl, apiKey: sendable(apiKey, 'the stored API key') };
}

function rejectUnknownProfile(name: string, profiles: NonNullable<Config['profiles']>): void {
  const names = Object.keys(profiles);
  if (names.includes(name) || names.length === 0) return;
  throw unknownProfile(name, names);
}

/** A character that no header can hold is a mistake in copying, and the request would fail. */
function sendable(key: string, source: Parameters<typeof unsendableKey>[0]): Secret {
  if (/^[\x21-\x7e]+$/.test(key)) return new Secret(key);
  throw unsendableKey(source);
}

function timeout(flag: string | undefined, stored: string | undefined): number {
  const text = flag ?? stored ?? '30s';
  const value = parseDuration(text);
  if (value !== undefined && value > 0) return Math.min(value, longestTimerMs);
  throw invalidTimeout(text);
}

function retries(flag: string | undefined, stored: number | undefined): number {
  if (flag === undefined) return stored ?? 5;
  if (/^\d{1,3}$/.test(flag)) return Number(flag);
  throw invalidRetries(flag);
}

const secret = (text: string | undefined): Secret | undefined =>
  text === undefined ? undefined : new Secret(text);

/** An empty variable or flag counts as missing; a variable that was made from a file may end with its line break. */
const nonEmpty = (text: string | undefined): string | undefined => text?.trim() || undefined;

/**
 * The configuration file, checked; an absent one is empty. A file or directory that others may read is tightened to
 * 0600 and 0700. Throws a `ConfigError` for a file that is corrupt, unreadable or reached through a symbolic link of
 * another user: it is never overwritten and never silently ignored. `onUnknown` hears of what this release does not know.
 */
export function readConfig(
  configDir: string,
  onUnknown: (path: readonly string[]) => void = () => undefined,
): Config {
  const path = configFile(configDir);
  try {
    checkOwnFile(configDir, 0o700);
    checkOwnFile(path, 0o600);
    return parseConfig(readFileSync(path, 'utf8'), path, onUnknown);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    throw configUnreadable(path, code ?? String(cause), cause);
  }
}

/**
 * The user of this process; Windows has no such number. `userInfo` of node:os fails where the number has no name, as in a
 * container, and an import of node:process opens the standard streams.
 */
// eslint-disable-next-line no-restricted-globals
export const ownUserId = (): number | undefined => process.geteuid?.();

/**
 * A symbolic link of another user could make this program read, or overwrite, a file of theirs. Those of root are how systemd
 * and Kubernetes give a program its directory and files.
 */
function checkOwnFile(path: string, mode: number): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  const uid = ownUserId();
  if (!stat.isSymbolicLink()) {
    tighten(path, stat, mode, uid);
    return;
  }
  if (uid !== undefined && ![0, uid].includes(stat.uid)) {
    throw configOfAnotherUser(path);
  }
  const target = statSync(path, { throwIfNoEntry: false });
  // Others may own what a link leads to, and a directory behind one may have other uses.
  if (target?.isFile() === true && target.uid === uid) tighten(path, target, mode, uid);
}

function tighten(path: string, stat: Stats, mode: number, uid: number | undefined): void {
  const refusal = closeToOthers(path, stat, mode);
  // A file of a third user is not read.
  if (refusal?.code === 'EPERM' && ![0, uid].includes(stat.uid)) throw refusal;
}

/** Editors of Windows begin a file with a byte order mark. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '');

function parseConfig(text: string, path: string, onUnknown: (path: readonly string[]) => void): Config {
  let json: Json;
  try {
    json = JSON.parse(withoutMark(text)) as Json;
  } catch (cause) {
    throw configNotJson(path, placeOf(cause, text), cause);
  }
  const { wrong, unknown } = faultsInConfig(json);
  if (wrong[0] !== undefined) throw configInvalid(path, wrong[0]);
  const config = json as Config;
  if ((config.version ?? 0) > configVersion) throw configOfNewerVersion(path);
  unknown.forEach(onUnknown);
  return config;
}

/** The line that cannot be read, and whether it is because of a comma too many. */
function placeOf(cause: unknown, text: string): { line: number; hasExtraComma: boolean } {
  const plain = withoutMark(text);
  const position = Number(/at position (\d+)/.exec(String(cause))?.[1] ?? plain.trimEnd().length);
  const before = plain.slice(0, position);
  const hasExtraComma = /^[}\]]/.test(plain.slice(position)) && before.trimEnd().endsWith(',');
  return { line: (hasExtraComma ? before.trimEnd() : before).split('\n').length, hasExtraComma };
}
