import { camelCase } from '../front.ts';
import { isObject, type Json } from '../json/exact.ts';
import { invalidSetting, twoKeysOfAProfile } from './errors.ts';
import { type OriginKey, type SettingKey, settingKeys } from './setting-keys.ts';
import type { Profile } from './settings.ts';

/*
 * Checks the configuration file, and one profile or dialect, against a shape that is made of the setting keys. Every command
 * checks the file at its start, so this does without the schema library, which takes long to load.
 */

export const configVersion = 1;

type Path = readonly string[];

interface Faults {
  readonly wrong: Path[];
  /** Members that this release does not know. */
  readonly unknown: Path[];
}

export const faultsInConfig = (config: Json): Faults => faultsIn(config, configShape());

/** The path of the first wrong value of a dialect, whose members are named as in JavaScript, or else of the first unknown one. */
export function faultyPathInDialect(dialect: Json): Path | undefined {
  const dialectKeys = settingKeys
    .filter(({ path }) => path[0] === 'api')
    .map((key) => ({ ...key, path: key.path.slice(1).map(camelCase) }));
  const { wrong, unknown } = faultsIn(dialect, { members: shapesOf(dialectKeys) });
  return wrong[0] ?? unknown[0];
}

/** Describes a place of the file: a checked value, an object with these members, or one whose members a person names. */
type Shape =
  | { readonly isValue: (value: Json) => boolean }
  | { readonly members: ReadonlyMap<string, Shape> }
  | { readonly each: Shape };

function faultsIn(value: Json, shape: Shape): Faults {
  const faults: Faults = { wrong: [], unknown: [] };
  collectFaults(value, shape, [], faults);
  return faults;
}

function collectFaults(value: Json, shape: Shape, path: Path, faults: Faults): void {
  if ('isValue' in shape) {
    if (!shape.isValue(value)) faults.wrong.push(path);
    return;
  }
  if (!isObject(value)) {
    faults.wrong.push(path);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    const inner = 'each' in shape ? shape.each : shape.members.get(name);
    if (inner === undefined) faults.unknown.push([...path, name]);
    else collectFaults(member, inner, [...path, name], faults);
  }
}

const isText = (value: Json): value is string => typeof value === 'string';

// The shapes are built on use, since many runs have no configuration file to check.
const configShape = (): Shape => ({
  members: new Map<string, Shape>([
    ['version', { isValue: (value) => typeof value === 'number' }],
    ['profile', { isValue: isText }],
    ['profiles', { each: profileShape() }],
  ]),
});

const profileShape = (): Shape => ({
  members: new Map([...shapesOf(settingKeys), ...Object.entries(originShapes)]),
});

const originShapes: Record<OriginKey, Shape> = {
  'api-key-origin': { isValue: isText },
  'headers-origin': { isValue: isText },
};

/** The members of an object with these settings: each is a setting, or an object of those whose paths go on below it. */
function shapesOf(keys: readonly SettingKey[], depth = 0): ReadonlyMap<string, Shape> {
  const names = new Set(keys.map(({ path }) => path[depth] ?? ''));
  return new Map(
    [...names].map((name) => {
      const below = keys.filter(({ path }) => path[depth] === name);
      const setting = below.find(({ path }) => path.length === depth + 1);
      return [name, setting === undefined ? { members: shapesOf(below, depth + 1) } : valueShape(setting)];
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

/** Returns the description of the values that a setting may have; undefined for a path in the file that is no setting. */
export const expectedAt = ([, , ...setting]: Path): string | undefined =>
  settingKeys.find(({ name }) => name === setting.join('.'))?.type.expected;

type Tree = Readonly<Record<string, unknown>>;

/** The value of a setting; undefined where the profile does not have it. */
export function valueAt(profile: Profile, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (typeof value === 'object' && value !== null ? (value as Tree)[step] : undefined),
    profile,
  );
}

/**
 * Returns the profile with one value set, or removed when it is undefined, and without objects that are then empty. Throws a
 * `UsageError` for a value that the configuration file cannot hold.
 */
export function withValue(profile: Profile, path: readonly string[], value: unknown): Profile {
  const changed = withValueIn({ ...profile }, path, value);
  if (faultsIn(changed as Json, profileShape()).wrong.length === 0) return changed;
  throw invalidSetting(String(value), path.join('.'));
}

function withValueIn(object: Tree, path: readonly string[], value: unknown): Tree {
  const [step = '', ...further] = path;
  const { [step]: current, ...siblings } = object;
  if (further.length === 0) return value === undefined ? siblings : { ...siblings, [step]: value };
  const inner = withValueIn((current ?? {}) as Tree, further, value);
  return Object.keys(inner).length === 0 ? siblings : { ...siblings, [step]: inner };
}

/** Throws a `UsageError` for a profile with both a key and a command that prints one. */
export function rejectBothKeys(profile: Profile): void {
  if (profile['api-key'] !== undefined && profile['api-key-command'] !== undefined) throw twoKeysOfAProfile();
}
