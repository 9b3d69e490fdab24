import { join, resolve } from 'node:path';
import type { Paths } from '../../config/directories.ts';
import { text } from '../../config/value-types.ts';
import type { Flags, OptionsOf } from './flag.ts';

/** Which inbox a command works on. */
export const inboxFlags = {
  inbox: {
    value: 'place',
    type: text,
    otherwise: "the profile's own",
    known: 'files',
    variable: 'LEADS_INBOX',
    help: 'a file or postgres://HOST/DATABASE; or @FILE that holds such a URL (@- for stdin)',
  },
} satisfies Flags;

export type InboxFlags = OptionsOf<typeof inboxFlags>;

/** The file of the inbox that a profile has where none is named. */
export const ownInbox = (profile: string, { dataDir }: Pick<Paths, 'dataDir'>): string =>
  join(resolve(dataDir), profile === 'default' ? 'inbox.db' : `inbox-${encodeURIComponent(profile)}.db`);
