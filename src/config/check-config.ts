import { isObject, type Json } from '../json/exact.ts';
import { invalidSetting, twoKeysOfAProfile } from './errors.ts';
import { camelCase, type OriginKey, type SettingKey, settingKeys } from './setting-keys.ts';
import type { Config, Profile } from './settings.ts';

// Without the schema library, since every command checks the file at its start and would have to load that first.

export const configVersion = 1;

type Place =
  | { readonly isValue: (value: Json) => boolean }
  | { readonly members: ReadonlyMap<string, Place> }
  /** Members that a person names, such as profiles. */
  | { readonly each: Place };
type Path = readonly string[];

/** The settings by where they stand in a profile. */
function placesOf(keys: readonly SettingKey[], depth = 0): ReadonlyMap<string, Place> {
  const names = new Set(keys.map(({ path }) => path[depth] ?? ''));
  return new Map(
    [...names].map((name) => {
      const below = keys.filter(({ path }) => path[depth] === name);
      const own = below.find(({ path }) => path.length === depth + 1);
      return [name, own === undefined ? { members: placesOf(below, depth + 1) } : valueOf(own)];
    }),
  );
}

const valueOf = ({ type, checkedOnUse, isJson }: SettingKey): Place => ({
  isValue: (value) => {
    if (isJson === true) return type.parse(JSON.stringify(value)) !== undefined;
    if (checkedOnUse === true) return isText(value);
    return (typeof value !== 'object' || value === null) && type.parse(String(value)) === value;
  },
});

const isText = (value: Json): value is string => typeof value === 'string';
const origins: Record<OriginKey, Place> = {
  apiKeyOrigin: { isValue: isText },
  headersOrigin: { isValue: isText },
};
const areTexts = (value: Json): boolean => isObject(value) && Object.values(value).every(isText);
const profilePlace = (): Place => ({
  members: new Map([...placesOf(settingKeys), ...Object.entries(origins), ['setAt', { isValue: areTexts }]]),
});
const configPlace = (): Place => ({
  members: new Map<string, Place>([
    ['version', { isValue: (value) => typeof value === 'number' }],
    ['profile', { isValue: isText }],
    ['profiles', { each: profilePlace() }],
  ]),
});

/** How the names of settings are read and written: in memory `pageSize`, in a file `page-size`. */
interface Spelling {
  /** Undefined for a key that is spelled otherwise. */
  readonly read: (key: string) => string | undefined;
  readonly write: (name: string) => string;
}

const asIs = (name: string): string => name;
export const kebabCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const inMemory: Spelling = { read: asIs, write: asIs };
const fromFile: Spelling = { read: (key) => (/[A-Z]/.test(key) ? undefined : camelCase(key)), write: asIs };
const toFile: Spelling = { read: asIs, write: kebabCase };

/** Where a value holds what does not belong there, and what is not known to this release. */
interface Findings {
  readonly wrong: Path[];
  readonly unknown: Path[];
}

/** A copy in another spelling. What is unknown stays as it is. */
function respelled(value: Json, place: Place, spelling: Spelling, found: Findings, at: Path = []): Json {
  if ('isValue' in place) {
    if (!place.isValue(value)) found.wrong.push(at);
    return value;
  }
  if (!isObject(value)) {
    found.wrong.push(at);
    return value;
  }
  const members = Object.entries(value).map(([key, member]): [string, Json] => {
    const path = [...at, key];
    if ('each' in place) return [key, respelled(member, place.each, spelling, found, path)];
    const name = spelling.read(key);
    const inner = name === undefined ? undefined : place.members.get(name);
    if (name === undefined || inner === undefined) {
      found.unknown.push(path);
      return [key, member];
    }
    return [spelling.write(name), respelled(member, inner, spelling, found, path)];
  });
  return Object.fromEntries(members);
}

/** A configuration that a file holds; `wrong` is where it first holds what does not belong there. */
export function configFrom(json: Json): {
  readonly config: Config;
  readonly wrong: Path | undefined;
  readonly unknown: readonly Path[];
} {
  const found: Findings = { wrong: [], unknown: [] };
  const config = respelled(json, configPlace(), fromFile, found) as Config;
  return { config, wrong: found.wrong[0], unknown: found.unknown };
}

/** As a file holds it. */
export const inKebabCase = (config: Config): Config =>
  respelled(config as Json, configPlace(), toFile, { wrong: [], unknown: [] }) as Config;

/** Where a profile in memory holds what does not belong there. */
export function misplacedInProfile(profile: Json): Path | undefined {
  const { wrong, unknown } = examined(profile);
  return wrong[0] ?? unknown[0];
}

function examined(profile: Json): Findings {
  const found: Findings = { wrong: [], unknown: [] };
  respelled(profile, profilePlace(), inMemory, found);
  return found;
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
  if (examined(changed as Json).wrong.length === 0) return changed;
  throw invalidSetting(String(value), path.map(kebabCase).join('.'));
}

function setIn(object: Tree, path: readonly string[], value: unknown): Tree {
  const [step = '', ...rest] = path;
  const { [step]: current, ...others } = object;
  if (rest.length === 0) return value === undefined ? others : { ...others, [step]: value };
  const inner = setIn((current ?? {}) as Tree, rest, value);
  return Object.keys(inner).length === 0 ? others : { ...others, [step]: inner };
}

/** Throws a `UsageError` for a profile that would have both. */
export function rejectBothKeys(profile: Profile): void {
  if (profile.apiKey !== undefined && profile.apiKeyCommand !== undefined) throw twoKeysOfAProfile();
}
