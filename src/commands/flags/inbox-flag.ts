import { join, resolve } from 'node:path';
import type { Paths } from '../../config/directories.ts';
import type { Settings } from '../../config/settings.ts';
import { text } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import type { Flags } from './flag.ts';

export const inboxFlag = {
  inbox: {
    value: 'file',
    type: text,
    help: "where received leads are kept, if not in the profile's own inbox",
  },
} satisfies Flags;

/** The inbox that `--inbox` names, or the profile's own in the data directory. */
export function inboxPath(
  named: string | undefined,
  { profile }: Pick<Settings, 'profile'>,
  { dataDir }: Paths,
): string {
  if (named === ':memory:') return named;
  if (named !== undefined) {
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(named)) {
      throw new UsageError(`--inbox: '${named}' is a URL`, { hint: 'it must be a file or :memory:' });
    }
    return resolve(named);
  }
  const name = profile === 'default' ? 'inbox.db' : `inbox-${encodeURIComponent(profile)}.db`;
  return join(resolve(dataDir), name);
}
