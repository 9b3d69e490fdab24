import { valueAt, withValue } from '../../config/check-config.ts';
import { readConfig } from '../../config/load-settings.ts';
import { settingKeys } from '../../config/setting-keys.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context } from '../../context.ts';
import type { LearntKey } from '../../doctor/learn/examination.ts';

/** A learnt key, and what the profile held before. */
export interface LearntChange extends LearntKey {
  readonly path: readonly string[];
  /** Undefined where the key was not set. */
  readonly old: unknown;
}

/** The learnt keys with what the profile holds now, in the order of the settings. */
export function compareWithProfile(
  keys: readonly LearntKey[],
  profile: string,
  { paths }: Pick<Context, 'paths'>,
): LearntChange[] {
  const stored = readConfig(paths.configDir).profiles?.[profile] ?? {};
  return settingKeys.flatMap(({ name, path }) =>
    keys.filter(({ key }) => key === name).map((key) => ({ ...key, path, old: valueAt(stored, path) })),
  );
}

/** Writes all of them in one step. Throws a `ConfigError`, an `OutputError`. */
export async function writeDialect(
  changes: readonly LearntChange[],
  profile: string,
  context: Pick<Context, 'paths' | 'pid' | 'clock' | 'signal'>,
): Promise<void> {
  await updateProfile(context, profile, (stored) =>
    changes.reduce((changed, { path, value }) => withValue(changed, path, value), stored),
  );
}
