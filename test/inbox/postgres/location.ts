import { noteText } from '../../../src/errors.ts';
import { type DatabaseLocation, databaseLocation } from '../../../src/inbox/postgres/database-location.ts';

interface LocationParts {
  readonly env?: Readonly<Record<string, string>>;
  /** Gets the warnings. */
  readonly warnings?: string[];
}

/** A location as a command makes it, in an environment that has nothing but what is given. */
export const locationOf = (url: string, { env = {}, warnings = [] }: LocationParts = {}): DatabaseLocation =>
  databaseLocation(url, {
    env: { HOME: '/nonexistent', ...env },
    platform: 'linux',
    warn: (found) => void warnings.push(noteText(found)),
  });
