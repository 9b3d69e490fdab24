import { sep } from 'node:path';
import { openInbox } from '../../inbox/open-inbox.ts';
import {
  type DatabaseLocation,
  databaseLocation,
} from '../../inbox/postgres/connection/database-location.ts';
import type { InboxWarning } from '../../inbox/problems.ts';
import { applicationWords } from '../../messages/application.ts';
import { warningOf } from '../../messages/catalogue.ts';
import { Secret } from '../../secret.ts';
import type { InboxRequirements, PostgresInboxOptions, ReceiverInbox } from './receiver-options.ts';

/** `pid`: of this process, for the name on its leases. */
interface Opening extends InboxRequirements {
  readonly pid: number;
}

/** Rejects with a `ConfigError`, or with a `LeadsError` while the database cannot be reached. */
export async function openDatabaseInbox(
  url: string,
  options: PostgresInboxOptions,
  requirements: Opening,
): Promise<ReceiverInbox> {
  const warn = (found: InboxWarning): void => requirements.warn(warningOf(found, applicationWords));
  return openInbox({ ...requirements, warn, location: locationOf(url, options, warn) });
}

/** Nothing is looked up in the environment and in the home directory, as `leads` would. */
function locationOf(
  url: string,
  { password, passwordFile, inboxInsecure = false }: PostgresInboxOptions,
  warn: (found: InboxWarning) => void,
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
