import { isObject, type Json } from '../json/exact.ts';
import { invalidSetting, twoKeysOfAProfile } from './errors.ts';
import { camelCase, type OriginKey, type SettingKey, settingKeys } from './setting-keys.ts';
import type { Config, Profile } from './settings.ts';

// Every command checks the file at its start, so this does without the schema library, which takes long to load.

export const configVersion = 1;

/** A shape describes the values that the file, a profile or a setting may hold. */
type Shape =
  | { readonly isValue: (value: Json) => boolean }
  | { readonly members: ReadonlyMap<string, Shape> }
  /** Members that a person names, such as profiles. */
  | { readonly each: Shape };
type Path = readonly string[];

/** The members of a profile at this depth: settings, and objects that hold settings. */
function shapesOf(keys: readonly SettingKey[], depth = 0): ReadonlyMap<string, Shape> {
  const names = new Set(keys.map(({ path }) => path[depth] ?? ''));
  return new Map(
    [...names].map((name) => {
      const below = keys.filter(({ path }) => path[depth] === name);
      const leaf = below.find(({ path }) => path.length === depth + 1);
      return [name, leaf === undefined ? { members: shapesOf(below, depth + 1) } : valueShape(leaf)];
    }),
  );
}

const valueShape = ({ type, checkedOnUse, isJson }: SettingKey): Shape => ({
  isValue: (value) => {
    // The type parses what a person types on a command line, which for an array or an object is JSON.
    if (isJson === true) return type.parse(JSON.stringify(value)) !== undefined;
    if (checkedOnUse === true) return isText(value);
    // A value that parses to another one, such as a number in quotes, is not in the form that this tool stores.
    return (typeof value !== 'object' || value === null) && type.parse(String(value)) === value;
  },
});

const isText = (value: Json): value is string => typeof value === 'string';
const origins: Record<OriginKey, Shape> = {
  apiKeyOrigin: { isValue: isText },
  headersOrigin: { isValue: isText },
};
// The shapes are built on use, since many runs have no configuration file to check.
const profileShape = (): Shape => ({
  members: new Map([...shapesOf(settingKeys), ...Object.entries(origins)]),
});
const configShape = (): Shape => ({
  members: new Map<string, Shape>([
    ['version', { isValue: (value) => typeof value === 'number' }],
    ['profile', { isValue: isText }],
    ['profiles', { each: profileShape() }],
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

/** Copies a value with its names in another spelling, and adds what is wrong or unknown to the findings. Faults are copied too. */
function checkAndRespell(value: Json, shape: Shape, copying: Copying, path: Path = []): Json {
  const { findings, spelling } = copying;
  if ('isValue' in shape) {
    if (!shape.isValue(value)) findings.wrong.push(path);
    return value;
  }
  if (!isObject(value)) {
    findings.wrong.push(path);
    return value;
  }
  const members = Object.entries(value).map(([key, member]): [string, Json] => {
    const memberPath = [...path, key];
    if ('each' in shape) return [key, checkAndRespell(member, shape.each, copying, memberPath)];
    const name = spelling.read(key);
    const inner = name === undefined ? undefined : shape.members.get(name);
    if (name === undefined || inner === undefined) {
      findings.unknown.push(memberPath);
      return [key, member];
    }
    return [spelling.write(name), checkAndRespell(member, inner, copying, memberPath)];
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
  const config = checkAndRespell(json, configShape(), { spelling: fromFile, findings }) as Config;
  return { config, wrong: findings.wrong[0], unknown: findings.unknown };
}

/** The configuration as the file holds it. */
export const inKebabCase = (config: Config): Config =>
  checkAndRespell(config as Json, configShape(), {
    spelling: toFile,
    findings: { wrong: [], unknown: [] },
  }) as Config;

/** The path of the first wrong value of a profile in memory, or else of the first unknown member. */
export function faultyPathInProfile(profile: Json): Path | undefined {
  const { wrong, unknown } = examined(profile);
  return wrong[0] ?? unknown[0];
}

function examined(profile: Json): Findings {
  const findings: Findings = { wrong: [], unknown: [] };
  checkAndRespell(profile, profileShape(), { spelling: inMemory, findings });
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

/** Throws a `UsageError` for a profile with both a key and a command that prints one. */
export function rejectBothKeys(profile: Profile): void {
  if (profile.apiKey !== undefined && profile.apiKeyCommand !== undefined) throw twoKeysOfAProfile();
}
