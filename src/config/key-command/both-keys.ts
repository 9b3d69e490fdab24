import { UsageError } from '../../errors.ts';
import type { Profile } from '../file/stored-config.ts';

/** A profile has its key from one place. */
export const bothKeys = (): UsageError =>
  new UsageError('api-key and api-key-command do not go together in one profile', {
    hint: "remove one: 'leads config unset api-key' or 'leads config unset api-key-command'",
  });

/** Throws a `UsageError` for a profile that would have both. */
export function rejectBothKeys(profile: Profile): void {
  if (profile.apiKey !== undefined && profile.apiKeyCommand !== undefined) throw bothKeys();
}
