import type { UsageError } from '../errors.ts';
import { isObject, type Json } from '../json/exact.ts';
import { usageError } from './problems.ts';
import { formerSettings, type OriginKey, type SettingKey, settingKeys } from './setting-keys.ts';
import type { Config, Profile } from './settings.ts';

// Without the schema library, since every command checks the file at its start and would have to load that first.

type Place = { readonly setting: SettingKey } | { readonly members: Map<string, Place> };

/** The settings by where they stand in a profile. */
function placesOf(keys: readonly SettingKey[], depth = 0): Map<string, Place> {
  const names = new Set(keys.map(({ path }) => path[depth] ?? ''));
  return new Map(
    [...names].map((name) => {
      const below = keys.filter(({ path }) => path[depth] === name);
      const own = below.find(({ path }) => path.length === depth + 1);
      return [name, own === undefined ? { members: placesOf(below, depth + 1) } : { setting: own }];
    }),
  );
}

/** Where a configuration first holds what does not belong there, as a path of keys; undefined for a `Config`. */
export function misplacedInConfig(config: Json): readonly string[] | undefined {
  if (!isObject(config)) return [];
  for (const [key, value] of Object.entries(config)) {
    if (key === 'profile' && typeof value === 'string') continue;
    if (key !== 'profiles' || !isObject(value)) return [key];
    for (const [name, profile] of Object.entries(value)) {
      const path = misplacedInProfile(profile);
      if (path !== undefined) return [key, name, ...path];
    }
  }
  return undefined;
}

export const isConfig = (json: unknown): json is Config => misplacedInConfig(json as Json) === undefined;

const isProfile = (json: unknown): json is Profile => misplacedInProfile(json as Json) === undefined;

export function misplacedInProfile(profile: Json): readonly string[] | undefined {
  if (!isObject(profile)) return [];
  const { apiKeyOrigin, headersOrigin, setAt = {}, ...settings } = profile;
  if (!isObject(setAt) || Object.values(setAt).some((at) => typeof at !== 'string')) return ['setAt'];
  const origins = { apiKeyOrigin, headersOrigin } satisfies Record<OriginKey, unknown>;
  for (const [key, origin] of Object.entries(origins)) {
    if (origin !== undefined && typeof origin !== 'string') return [key];
  }
  return misplaced(settings, placesOf([...settingKeys, ...formerSettings]));
}

function misplaced(value: Json, places: ReadonlyMap<string, Place>): readonly string[] | undefined {
  if (!isObject(value)) return [];
  for (const [key, member] of Object.entries(value)) {
    const place = places.get(key);
    if (place === undefined) return [key];
    const path = 'setting' in place ? wrongValue(place.setting, member) : misplaced(member, place.members);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

function wrongValue({ type, checkedOnUse, isJson }: SettingKey, value: Json): readonly [] | undefined {
  if (isJson === true) return type.parse(JSON.stringify(value)) === undefined ? [] : undefined;
  if (checkedOnUse === true) return typeof value === 'string' ? undefined : [];
  if (typeof value === 'object' && value !== null) return [];
  return type.parse(String(value)) === value ? undefined : [];
}

type Tree = Readonly<Record<string, unknown>>;

export function valueAt(profile: Profile, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (typeof value === 'object' && value !== null ? (value as Tree)[step] : undefined),
    profile,
  );
}

/**
 * The profile with one value set, or removed when it is undefined; objects left empty go too. Throws a `UsageError` for a
 * value that the configuration file cannot hold.
 */
export function withValue(profile: Profile, path: readonly string[], value: unknown): Profile {
  const changed = setIn({ ...profile }, path, value);
  if (isProfile(changed)) return changed;
  throw usageError({ kind: 'not-a-setting-value', value: String(value), path });
}

function setIn(object: Tree, path: readonly string[], value: unknown): Tree {
  const [step = '', ...rest] = path;
  const { [step]: current, ...others } = object;
  if (rest.length === 0) return value === undefined ? others : { ...others, [step]: value };
  const inner = setIn((current ?? {}) as Tree, rest, value);
  return Object.keys(inner).length === 0 ? others : { ...others, [step]: inner };
}

/** A profile has its key from one place. */
export const bothKeys = (): UsageError => usageError({ kind: 'two-keys-of-a-profile' });

/** Throws a `UsageError` for a profile that would have both. */
export function rejectBothKeys(profile: Profile): void {
  if (profile.apiKey !== undefined && profile.apiKeyCommand !== undefined) throw bothKeys();
}
