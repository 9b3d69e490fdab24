import { isObject, type Json } from '../json/exact.ts';
import { invalidSetting, twoKeysOfAProfile } from './errors.ts';
import { camelCase } from '../front.ts';
import { type OriginKey, type SettingKey, settingKeys } from './setting-keys.ts';
import type { Profile } from './settings.ts';

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
  'api-key-origin': { isValue: isText },
  'headers-origin': { isValue: isText },
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

/** The paths of wrong values, and of members that this release does not know. */
interface Faults {
  readonly wrong: Path[];
  readonly unknown: Path[];
}

function faultsIn(
  value: Json,
  shape: Shape,
  path: Path = [],
  faults: Faults = { wrong: [], unknown: [] },
): Faults {
  if ('isValue' in shape) {
    if (!shape.isValue(value)) faults.wrong.push(path);
  } else if (!isObject(value)) faults.wrong.push(path);
  else
    for (const [name, member] of Object.entries(value)) {
      const inner = 'each' in shape ? shape.each : shape.members.get(name);
      if (inner === undefined) faults.unknown.push([...path, name]);
      else faultsIn(member, inner, [...path, name], faults);
    }
  return faults;
}

export const faultsInConfig = (config: Json): Faults => faultsIn(config, configShape());

/** The path of the first wrong value of a dialect, whose members are named as in JavaScript, or else of the first unknown one. */
export function faultyPathInDialect(dialect: Json): Path | undefined {
  const keys = settingKeys.map((key) => ({ ...key, path: key.path.map(camelCase) }));
  const shape = shapesOf(keys).get('api');
  const { wrong, unknown } = faultsIn(dialect, shape as Shape);
  return wrong[0] ?? unknown[0];
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
  if (faultsIn(changed as Json, profileShape()).wrong.length === 0) return changed;
  throw invalidSetting(String(value), path.join('.'));
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
  if (profile['api-key'] !== undefined && profile['api-key-command'] !== undefined) throw twoKeysOfAProfile();
}
