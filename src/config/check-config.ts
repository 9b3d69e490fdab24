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
      const leaf = below.find(({ path }) => path.length === depth + 1);
      return [name, leaf === undefined ? { members: placesOf(below, depth + 1) } : valueOf(leaf)];
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

/** Names of settings are `pageSize` in memory, and `page-size` in a file. */
interface Spelling {
  /** Undefined for a key in another spelling. */
  readonly read: (key: string) => string | undefined;
  readonly write: (name: string) => string;
}

const asIs = (name: string): string => name;
export const kebabCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const inMemory: Spelling = { read: asIs, write: asIs };
const fromFile: Spelling = { read: (key) => (/[A-Z]/.test(key) ? undefined : camelCase(key)), write: asIs };
const toFile: Spelling = { read: asIs, write: kebabCase };

/** The paths of wrong values, and of keys that this release does not know. */
interface Findings {
  readonly wrong: Path[];
  readonly unknown: Path[];
}

interface Copying {
  readonly spelling: Spelling;
  readonly findings: Findings;
}

/** Copies a value in another spelling. Unknown members stay as they are. */
function respell(value: Json, place: Place, copying: Copying, path: Path = []): Json {
  const { findings, spelling } = copying;
  if ('isValue' in place) {
    if (!place.isValue(value)) findings.wrong.push(path);
    return value;
  }
  if (!isObject(value)) {
    findings.wrong.push(path);
    return value;
  }
  const members = Object.entries(value).map(([key, member]): [string, Json] => {
    const memberPath = [...path, key];
    if ('each' in place) return [key, respell(member, place.each, copying, memberPath)];
    const name = spelling.read(key);
    const inner = name === undefined ? undefined : place.members.get(name);
    if (name === undefined || inner === undefined) {
      findings.unknown.push(memberPath);
      return [key, member];
    }
    return [spelling.write(name), respell(member, inner, copying, memberPath)];
  });
  return Object.fromEntries(members);
}

/** Reads the content of a file; `wrong` is the path of the first wrong value. */
export function configFrom(json: Json): {
  readonly config: Config;
  readonly wrong: Path | undefined;
  readonly unknown: readonly Path[];
} {
  const findings: Findings = { wrong: [], unknown: [] };
  const config = respell(json, configPlace(), { spelling: fromFile, findings }) as Config;
  return { config, wrong: findings.wrong[0], unknown: findings.unknown };
}

/** The form that a file has. */
export const inKebabCase = (config: Config): Config =>
  respell(config as Json, configPlace(), {
    spelling: toFile,
    findings: { wrong: [], unknown: [] },
  }) as Config;

/** The path of the first wrong or unknown member of a profile in memory. */
export function misplacedInProfile(profile: Json): Path | undefined {
  const { wrong, unknown } = examined(profile);
  return wrong[0] ?? unknown[0];
}

function examined(profile: Json): Findings {
  const findings: Findings = { wrong: [], unknown: [] };
  respell(profile, profilePlace(), { spelling: inMemory, findings });
  return findings;
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
  const [step = '', ...further] = path;
  const { [step]: current, ...siblings } = object;
  if (further.length === 0) return value === undefined ? siblings : { ...siblings, [step]: value };
  const inner = setIn((current ?? {}) as Tree, further, value);
  return Object.keys(inner).length === 0 ? siblings : { ...siblings, [step]: inner };
}

/** Throws a `UsageError` for a profile that would have both. */
export function rejectBothKeys(profile: Profile): void {
  if (profile.apiKey !== undefined && profile.apiKeyCommand !== undefined) throw twoKeysOfAProfile();
}
