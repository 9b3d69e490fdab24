import { existsSync, statSync } from 'node:fs';
import type { Driver } from './driver.ts';
import type { Inbox, InboxReader } from './inbox.ts';
import { inMemory, type StoreOptions } from './store-options.ts';
import type { DatabaseLocation } from './postgres/connection/database-location.ts';

/** Where an inbox is: the path of a file, `:memory:`, or a PostgreSQL database. */
export type InboxLocation = string | DatabaseLocation;

/** For messages; a database's URL without its password. */
export const locationText = (location: InboxLocation): string =>
  typeof location === 'string' ? location : location.shown;

/**
 * Whether there is something to read. An empty file, such as one of `mktemp`, is made an inbox as if there were none. A
 * database is asked when it is opened.
 */
export const isInboxThere = (location: InboxLocation): boolean =>
  typeof location !== 'string' || (existsSync(location) && !isEmptyFile(location));

function isEmptyFile(path: string): boolean {
  const found = statSync(path);
  // What was received may be in a log beside it.
  return found.isFile() && found.size === 0 && !existsSync(`${path}-wal`);
}

/** What is left out is not wanted: no targets, no claims, no nonces, nothing redacted. */
export type InboxOptions = Pick<StoreOptions, 'clock'> &
  Partial<Omit<StoreOptions, 'location'>> & { readonly location: InboxLocation };

/**
 * Opens the store that the location names, and loads no other one. Throws a `ConfigError` when it is damaged, unreadable,
 * or of another program or a newer version.
 */
export async function openInbox({ location, ...options }: InboxOptions): Promise<Inbox> {
  const store: Omit<StoreOptions, 'location'> = {
    targets: [],
    claimMs: 0,
    nonceLifetimeMs: 0,
    redact: { path: ({ path }) => path, headers: ({ rawHeaders }) => rawHeaders },
    warn: () => undefined,
    ...options,
  };
  if (typeof location !== 'string') {
    const [{ openPostgresDriver }, { openStore }] = await Promise.all([
      import('./postgres/driver.ts'),
      import('./store.ts'),
    ]);
    const driver = await openPostgresDriver(location, { warn: store.warn });
    return orClosed(driver, () => openStore(driver, store));
  }
  const [{ openSqliteDriver }, { openStore }] = await Promise.all([
    import('./sqlite/driver.ts'),
    import('./store.ts'),
  ]);
  const driver = await openSqliteDriver({ ...store, location });
  const inbox = await orClosed(driver, () => openStore(driver, store));
  driver.failWhereLocked();
  return inbox;
}

/** Opens the store for reading only; a file must exist, and stays as it is. Throws as `openInbox` does. */
export async function openInboxReader({ location, clock }: InboxOptions): Promise<InboxReader> {
  if (typeof location !== 'string') {
    const [{ openPostgresDriver }, { openStoreReader }] = await Promise.all([
      import('./postgres/driver.ts'),
      import('./store-reader.ts'),
    ]);
    const driver = await openPostgresDriver(location, { isReader: true, warn: () => undefined });
    return orClosed(driver, () => openStoreReader(driver, clock));
  }
  if (location === inMemory) return openInbox({ location, clock });
  const [{ openSqliteReadOnly }, { openStoreReader }] = await Promise.all([
    import('./sqlite/driver.ts'),
    import('./store-reader.ts'),
  ]);
  const driver = await openSqliteReadOnly(location, clock);
  return orClosed(driver, () => openStoreReader(driver, clock));
}

async function orClosed<T>(driver: Driver, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await driver.close();
    throw driver.openError(error);
  }
}
