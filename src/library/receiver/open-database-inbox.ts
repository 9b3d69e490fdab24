import { sep } from 'node:path';
import { openInbox } from '../../inbox/open-inbox.ts';
import {
  type DatabaseLocation,
  databaseLocation,
} from '../../inbox/postgres/connection/database-location.ts';
import type { InboxWarning } from '../../inbox/problems.ts';
import { Secret } from '../../secret.ts';
import type { InboxRequirements, PostgresInboxOptions, ReceiverInbox } from './receiver-options.ts';

/** What an inbox is opened with: its warnings are data, and `pid` is part of the name on its leases. */
export interface Opening extends Omit<InboxRequirements, 'warn'> {
  readonly warn: (found: InboxWarning) => void;
  readonly pid: number;
}

/** Rejects with a `ConfigError`, or with a `LeadsError` while the database cannot be reached. */
export async function openDatabaseInbox(
  url: string,
  options: PostgresInboxOptions,
  opening: Opening,
): Promise<ReceiverInbox> {
  return openInbox({ ...opening, location: locationOf(url, options, opening.warn) });
}

/** Nothing is looked up in the environment and in the home directory, as `leads` would. */
function locationOf(
  url: string,
  { password, passwordFile, inboxInsecure = false }: PostgresInboxOptions,
  warn: Opening['warn'],
): DatabaseLocation {
  const location = databaseLocation(url, { env: {}, platform: '', allowsPlain: inboxInsecure, warn });
  return {
    ...location,
    passwords: {
      environment: password === undefined ? undefined : new Secret(password),
      // Files have no modes on Windows.
      file: passwordFile === undefined ? undefined : { path: passwordFile, hasMode: sep === '/' },
    },
  };
}
