import { UsageError } from '../errors.ts';
import { isProfile } from './file/check-config.ts';
import type { Profile } from './file/stored-config.ts';

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
  throw new UsageError(`'${String(value)}' is not a value for ${path.join('.')}`);
}

function setIn(object: Tree, path: readonly string[], value: unknown): Tree {
  const [step = '', ...rest] = path;
  const { [step]: current, ...others } = object;
  if (rest.length === 0) return value === undefined ? others : { ...others, [step]: value };
  const inner = setIn((current ?? {}) as Tree, rest, value);
  return Object.keys(inner).length === 0 ? others : { ...others, [step]: inner };
}
