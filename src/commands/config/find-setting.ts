import { type SettingKey, settingKeys } from '../../config/setting-keys.ts';
import { UsageError } from '../../errors.ts';
import { didYouMean } from '../help/suggest.ts';

/** The setting of that name, or a `UsageError` with the nearest one, or all of them. */
export function findSetting(name: string): SettingKey {
  const key = settingKeys.find((candidate) => candidate.name === name);
  if (key !== undefined) return key;
  const names = settingKeys.map((candidate) => candidate.name);
  throw new UsageError(`there is no setting '${name}'`, {
    hint: didYouMean(name, names) ?? `settings: ${names.join(', ')}`,
  });
}
