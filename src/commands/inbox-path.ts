import { join, resolve } from 'node:path';
import type { Paths } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';

/** The inbox that `--inbox` names, or the profile's own in the data directory. */
export function inboxPath(
  given: string | undefined,
  { profile }: Pick<Settings, 'profile'>,
  { dataDir }: Paths,
): string {
  if (given === ':memory:') return given;
  if (given !== undefined) {
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(given)) {
      throw new UsageError('--inbox: it must be a file or :memory:');
    }
    return resolve(given);
  }
  const name = profile === 'default' ? 'inbox.db' : `inbox-${encodeURIComponent(profile)}.db`;
  return join(resolve(dataDir), name);
}
