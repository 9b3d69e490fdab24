import { Secret } from '../secret.ts';
import { longestTimerMs, parseDuration } from '../time/time-text.ts';
import { camelCase } from '../front.ts';
import { parseBaseUrl } from './base-url.ts';
import type { Config, Profile } from './check-config.ts';
import type { Dialect } from './dialect.ts';
import type { Paths } from './directories.ts';
import {
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
import { readConfigFile } from './read-config.ts';

/** The global flags; their values are checked where settings are read. */
export interface Globals {
  readonly profile: string | undefined;
  readonly baseUrl: string | undefined;
  readonly timeout: string | undefined;
  readonly retries: string | undefined;
  readonly verbose: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
}

/** The base URL and the key that requests to a service need. The profile is for hints that say how to log in. */
export interface Account {
  readonly profile?: string | undefined;
  readonly baseUrl: URL;
  readonly apiKey: Secret;
  /** Whether `api-key-command` printed the key. */
  readonly keyIsFromCommand?: true;
}

/** An account whose key a program prints: `apiKeyCommand` is that program and its arguments. */
export interface CommandAccount extends Omit<Account, 'apiKey'> {
  readonly apiKeyCommand: readonly string[];
}

interface Sources {
  readonly globals: Globals;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly paths: Paths;
  readonly allowsNewProfile: boolean;
}

export type Settings = ReturnType<typeof loadSettings>;

/**
 * Merges the sources of settings: a flag goes before the environment, that before the profile, and that before the default.
 * Throws a `ConfigError` for an unreadable file, and for a profile that is asked for by name but not stored while others are.
 */
export function loadSettings({ globals, env, paths, allowsNewProfile }: Sources) {
  const { config, unknownPaths } = readConfigFile(paths.configDir);
  const requestedName = requestedProfile(globals, env);
  const name = requestedName ?? config.profile ?? 'default';
  const profiles = config.profiles ?? {};
  if (requestedName !== undefined && name !== 'default' && !allowsNewProfile)
    rejectUnknownProfile(name, profiles);
  const profile = profiles[name] ?? {};
  const { webhook = {}, listen = {} } = profile;
  const address = globals.baseUrl ?? nonEmpty(env['LEADS_BASE_URL']) ?? profile['base-url'];
  const baseUrl = (): URL | undefined => (address === undefined ? undefined : parseBaseUrl(address));
  const dialect = dialectOf(profile);
  return {
    profile: name,
    unknownPaths,
    /** Throws a `ConfigError` for a URL that cannot be used. As a getter, it stops no command that does not need the URL. */
    get baseUrl() {
      return baseUrl();
    },
    /** Throws a `ConfigError` that says what of the account is missing and how to give it. */
    account: () => accountOf(baseUrl(), name, profiles, nonEmpty(env['LEADS_API_KEY'])),
    dialect,
    /** The origin that the dialect's headers are for; without one they are sent nowhere. */
    headersOrigin: profile['headers-origin'],
    webhookToken: optionalSecret(nonEmpty(env['LEADS_WEBHOOK_TOKEN']) ?? webhook.token),
    webhookSecret: optionalSecret(nonEmpty(env['LEADS_WEBHOOK_SECRET']) ?? webhook.secret),
    webhookScheme: webhook.scheme,
    /** The place of the lead in the body of a delivery: a JSON Pointer, or `auto`. */
    webhookLead: webhook.lead,
    webhookId: webhook.id ?? dialect.id ?? 'id',
    /** Whether genuine deliveries without any field of a lead are accepted. */
    takesOtherEvents: webhook['other-events'] === 'accept',
    /** How long `listen` goes on after a signal. */
    drainDelayMs: parseDuration(listen['drain-delay'] ?? '0s') ?? 0,
    timeoutMs: timeoutMsFrom(globals.timeout, profile.timeout),
    retries: retriesFrom(globals.retries, profile.retries),
    zone: profile.zone ?? 'UTC',
  };
}

export const dialectOf = ({ api = {} }: Pick<Profile, 'api'>): Dialect =>
  Object.fromEntries(Object.entries(api).map(([name, value]) => [camelCase(name), value]));

/** The profile that a flag or the environment names. */
export function requestedProfile(globals: Globals, env: Sources['env']): string | undefined {
  return globals.profile ?? nonEmpty(env['LEADS_PROFILE']);
}

function accountOf(
  baseUrl: URL | undefined,
  name: string,
  profiles: NonNullable<Config['profiles']>,
  environmentKey: string | undefined,
): Account | CommandAccount {
  if (baseUrl === undefined) {
    rejectUnknownProfile(name, profiles);
    throw noBaseUrl(name);
  }
  if (environmentKey !== undefined) {
    return { profile: name, baseUrl, apiKey: sendableKey(environmentKey, 'LEADS_API_KEY') };
  }
  const { 'api-key': apiKey, 'api-key-command': command, 'api-key-origin': keyOrigin } = profiles[name] ?? {};
  const { origin } = baseUrl;
  if (command !== undefined) {
    if (apiKey !== undefined) throw twoKeysOfAProfile();
    if (keyOrigin !== origin) throw keyCommandOfAnotherOrigin(keyOrigin, origin);
    return { profile: name, baseUrl, apiKeyCommand: command };
  }
  if (apiKey === undefined) {
    rejectUnknownProfile(name, profiles);
    throw noApiKey(name, baseUrl.href);
  }
  if (keyOrigin !== origin) throw keyOfAnotherOrigin(name, keyOrigin, origin);
  return { profile: name, baseUrl, apiKey: sendableKey(apiKey, 'the stored API key') };
}

function rejectUnknownProfile(name: string, profiles: NonNullable<Config['profiles']>): void {
  const names = Object.keys(profiles);
  if (names.includes(name) || names.length === 0) return;
  throw unknownProfile(name, names);
}

/** A character that no header can hold is a mistake in copying, and the request would fail. */
export function sendableKey(key: string, source: Parameters<typeof unsendableKey>[0]): Secret {
  if (/^[\x21-\x7e]+$/.test(key)) return new Secret(key);
  throw unsendableKey(source);
}

function timeoutMsFrom(flag: string | undefined, stored: string | undefined): number {
  const text = flag ?? stored ?? '30s';
  const value = parseDuration(text);
  if (value !== undefined && value > 0) return Math.min(value, longestTimerMs);
  throw invalidTimeout(text);
}

function retriesFrom(flag: string | undefined, stored: number | undefined): number {
  if (flag === undefined) return stored ?? 5;
  if (/^\d{1,3}$/.test(flag)) return Number(flag);
  throw invalidRetries(flag);
}

const optionalSecret = (text: string | undefined): Secret | undefined =>
  text === undefined ? undefined : new Secret(text);

/** An empty variable counts as missing; a variable that was made from a file may end with its line break. */
const nonEmpty = (text: string | undefined): string | undefined => text?.trim() || undefined;
