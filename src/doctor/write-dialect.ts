import { updateProfile } from '../config/file/write-config.ts';
import { valueAt, withValue } from '../config/profile-values.ts';
import { settingKeys } from '../config/setting-keys.ts';
import { readConfig } from '../config/file/read-config.ts';
import type { Context } from '../context.ts';
import type { LearntKey } from './dialect/learnt-keys.ts';

type WriteContext = Pick<Context, 'paths' | 'pid' | 'clock' | 'signal'>;

/** A learnt key, and what the profile held before. */
export interface LearntChange extends LearntKey {
  readonly path: readonly string[];
  /** Undefined where the key was not set. */
  readonly old: unknown;
}

/** The learnt keys with what the profile holds now. */
export function compareWithProfile(
  keys: readonly LearntKey[],
  profile: string,
  { paths }: Pick<WriteContext, 'paths'>,
): LearntChange[] {
  const stored = readConfig(paths.configDir).profiles?.[profile] ?? {};
  return keys.flatMap((key) => {
    const path = settingKeys.find(({ name }) => name === key.key)?.path;
    return path === undefined ? [] : [{ ...key, path, old: valueAt(stored, path) }];
  });
}

/** Writes all of them in one step. Throws a `ConfigError`, an `OutputError`. */
export async function writeDialect(
  changes: readonly LearntChange[],
  profile: string,
  context: WriteContext,
): Promise<void> {
  await updateProfile(context, profile, (stored) =>
    changes.reduce((changed, { path, value }) => withValue(changed, path, value), stored),
  );
}
