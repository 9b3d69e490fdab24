import { camelCase } from '../front.ts';
import { isObject, type Json, valueAt as jsonValueAt } from '../json/exact.ts';
import { invalidSetting, twoKeysOfAProfile } from './errors.ts';
import { type OriginKey, type SettingKey, settingKeys } from './setting-keys.ts';
import { text, wholeNumber } from './value-types.ts';

/*
 * Checks the configuration file, and one profile or dialect, by the setting keys. Every command
 * checks the file at its start, so this does without the schema library, which takes long to load.
 */

/** A profile as the file holds it. Secrets are plain text there, so the file is 0600. */
export interface Profile {
  readonly 'base-url'?: string | undefined;
  readonly 'api-key'?: string | undefined;
  readonly 'api-key-command'?: readonly string[] | undefined;
  /** The origin for which the key, or the command, was stored: the key is sent nowhere else. */
  readonly 'api-key-origin'?: string | undefined;
  /** The same for the headers of the dialect. */
  readonly 'headers-origin'?: string | undefined;
  readonly timeout?: string | undefined;
  readonly retries?: number | undefined;
  readonly zone?: string | undefined;
  readonly webhook?:
    | {
        readonly scheme?: string | undefined;
        readonly token?: string | undefined;
        readonly secret?: string | undefined;
        readonly lead?: string | undefined;
        readonly id?: string | undefined;
        readonly 'other-events'?: 'accept' | 'reject' | undefined;
      }
    | undefined;
  readonly listen?: { readonly 'drain-delay'?: string | undefined } | undefined;
  readonly api?: Readonly<Record<string, unknown>> | undefined;
}

export interface Config {
  readonly version?: number | undefined;
  /** Used when neither `--profile` nor `LEADS_PROFILE` names one. */
  readonly profile?: string | undefined;
  readonly profiles?: Readonly<Record<string, Profile>> | undefined;
}

export const configVersion = 1;

type Path = readonly string[];

interface Faults {
  readonly wrong: readonly Path[];
  /** Members that this release does not know. */
  readonly unknown: readonly Path[];
}

/** A value below an object: its path, and what it must be. */
type CheckedValue = Pick<SettingKey, 'path' | 'type' | 'checkedOnUse' | 'isJson'>;

const textAt = (name: string): CheckedValue => ({ path: [name], type: text, checkedOnUse: true });

const generalValues: readonly CheckedValue[] = [
  { path: ['version'], type: wholeNumber(0) },
  textAt('profile'),
];

const originNames: readonly OriginKey[] = ['api-key-origin', 'headers-origin'];
const profileValues: readonly CheckedValue[] = [...settingKeys, ...originNames.map(textAt)];

export function faultsInConfig(config: Json): Faults {
  if (!isObject(config)) return wrongAt([]);
  const { profiles = {}, ...general } = config;
  if (!isObject(profiles)) return wrongAt(['profiles']);
  return joined([
    faultsIn(general, generalValues),
    ...Object.entries(profiles).map(([name, profile]) =>
      faultsIn(profile, profileValues, ['profiles', name]),
    ),
  ]);
}

/** The path of the first wrong value of a dialect, whose members are named as in JavaScript, or else of the first unknown one. */
export function faultyPathInDialect(dialect: Json): Path | undefined {
  const dialectValues = settingKeys
    .filter(({ path }) => path[0] === 'api')
    .map((key) => ({ ...key, path: key.path.slice(1).map(camelCase) }));
  const { wrong, unknown } = faultsIn(dialect, dialectValues);
  return wrong[0] ?? unknown[0];
}

const wrongAt = (path: Path): Faults => ({ wrong: [path], unknown: [] });

const joined = (faults: readonly Faults[]): Faults => ({
  wrong: faults.flatMap(({ wrong }) => wrong),
  unknown: faults.flatMap(({ unknown }) => unknown),
});

/** Finds the faults of an object at `path`. Each member is a value, or an object of those whose paths go on below it. */
function faultsIn(object: Json, values: readonly CheckedValue[], path: Path = []): Faults {
  if (!isObject(object)) return wrongAt(path);
  const faults = Object.entries(object).map(([name, member]): Faults => {
    const memberPath = [...path, name];
    const below = values.filter((value) => value.path[0] === name);
    if (below.length === 0) return { wrong: [], unknown: [memberPath] };
    const expected = below.find((value) => value.path.length === 1);
    if (expected !== undefined) return isStored(member, expected) ? joined([]) : wrongAt(memberPath);
    return faultsIn(
      member,
      below.map((value) => ({ ...value, path: value.path.slice(1) })),
      memberPath,
    );
  });
  return joined(faults);
}

function isStored(value: Json, { type, checkedOnUse, isJson }: CheckedValue): boolean {
  // The type parses what a person types on a command line, which for an array or an object is JSON.
  if (isJson === true) return type.parse(JSON.stringify(value)) !== undefined;
  if (checkedOnUse === true) return typeof value === 'string';
  // A value that parses to another one, such as a number in quotes, is not in the form that this tool stores.
  return (typeof value !== 'object' || value === null) && type.parse(String(value)) === value;
}

/** Returns the description of the values that a setting may have; undefined for a path in the file that is no setting. */
export const expectedAt = ([, , ...setting]: Path): string | undefined =>
  settingKeys.find(({ name }) => name === setting.join('.'))?.type.expected;

/** The value of a setting; undefined where the profile does not have it. */
export const valueAt = (profile: Profile, path: Path): unknown => jsonValueAt(profile as Json, path);

/**
 * Returns the profile with one value set, or removed when it is undefined, and without objects that are then empty. Throws a
 * `UsageError` for a value that the configuration file cannot hold.
 */
export function withValue(profile: Profile, path: readonly string[], value: unknown): Profile {
  const changed = withValueIn({ ...profile }, path, value);
  if (faultsIn(changed as Json, profileValues).wrong.length === 0) return changed;
  throw invalidSetting(String(value), path.join('.'));
}

type Tree = Readonly<Record<string, unknown>>;

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
