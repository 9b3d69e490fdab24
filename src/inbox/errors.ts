import { ConfigError, DataError, OutputError } from '../errors.ts';
import { type Front, type Hint, updateLeads } from '../front.ts';

/** The inbox did not take a delivery: disk full, I/O error, locked too long. The sender is to try again. */
export class CannotStoreError extends OutputError {}

/** The reason of a failure of a store, as a clause about its database, and what the operator may do. */
export interface StoreFault {
  readonly message: string;
  readonly hint?: Hint | undefined;
}

/** `inbox`: its path, or the URL of its database without password. `cause`: what the store itself threw. */
export const cannotStore = (inbox: string, { message, hint }: StoreFault, cause: unknown) =>
  new CannotStoreError(`cannot store in the inbox ${inbox}: ${message}`, { hint, cause });

export const cannotReadInbox = (inbox: string, { message, hint }: StoreFault, cause: unknown) =>
  new DataError(`cannot read the inbox ${inbox}: ${message}`, { hint, cause });

const otherPlace = (front: Front): string =>
  `name another place with ${front.option('inbox')} or LEADS_DATA_DIR`;

/** The arguments for the constructor of the error, whose class depends on the database and its fault. */
export const cannotOpenInbox = (inbox: string, { message, hint = otherPlace }: StoreFault, cause: unknown) =>
  [`cannot open the inbox ${inbox}: ${message}`, { hint, cause }] as const;

export const inboxOfNewerVersion = (inbox: string) =>
  new ConfigError(`the inbox ${inbox} was made by a newer version of leads`, {
    hint: (front) => `${updateLeads}; or name another ${front.option('inbox')}`,
  });

export const otherFile = (front: Front): string => `name another file with ${front.option('inbox')}`;

export const freeSpace = 'free some space; nothing that was acknowledged is lost';

/** A hint: the shell of SQLite can read the pages that are not damaged. */
export const saveDamaged = (path: string): string =>
  `'sqlite3 ${path} .recover | sqlite3 NEW' saves what it still holds`;
