import { existsSync } from 'node:fs';
import { DataError } from '../errors.ts';
import { statIfThere } from '../files/modes.ts';
import type { Driver } from './driver.ts';
import type { Inbox, InboxReader } from './inbox.ts';
import { cannotOpen } from './sqlite/sqlite-errors.ts';
import { inMemory, type StoreOptions } from './store-options.ts';
import type { DatabaseLocation } from './postgres/database-location.ts';

export type InboxLocation = string | DatabaseLocation;

export const locationText = (location: InboxLocation): string =>
  typeof location === 'string' ? location : location.shown;

/**
 * Returns a clause that says why there is no inbox to read, and undefined where there is one. An empty file, such as one of
 * `mktemp`, does not count unless there is a log beside it. A database is asked when it is opened. Throws a `ConfigError` where the
 * system does not say what is there.
 */
export function missingInbox(location: InboxLocation): string | undefined {
  if (typeof location !== 'string') return undefined;
  try {
    const stats = statIfThere(location);
    if (stats === undefined) return `there is no inbox at ${location}`;
    const isEmpty = stats.isFile() && stats.size === 0 && !existsSync(`${location}-wal`);
    return isEmpty ? `the file ${location} is empty` : undefined;
  } catch (error) {
    throw cannotOpen(location, error);
  }
}

/** Options that are left out stand for no targets, claims that end at once, nonces that are not kept, and nothing redacted. */
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
  const { openStore } = await import('./store.ts');
  if (typeof location !== 'string') {
    const { openPostgresDriver } = await import('./postgres/driver.ts');
    const driver = await openPostgresDriver(location, { warn: store.warn });
    return orClosed(driver, () => openStore(driver, store));
  }
  const { openSqliteDriver } = await import('./sqlite/driver.ts');
  const driver = await openSqliteDriver({ ...store, location });
  return orClosed(driver, async () => {
    const inbox = await openStore(driver, store);
    // From now on a write that finds the file locked fails at once, and the store repeats it; only opening may block.
    driver.failWhereLocked();
    return inbox;
  });
}

export async function openInboxReader({
  location,
  clock,
}: Pick<InboxOptions, 'location' | 'clock'>): Promise<InboxReader> {
  if (location === inMemory) return openInbox({ location, clock });
  const { openStoreReader } = await import('./store.ts');
  if (typeof location === 'string') {
    const { openSqliteReadOnly } = await import('./sqlite/driver.ts');
    const driver = await openSqliteReadOnly(location, clock);
    return orClosed(driver, () => openStoreReader(driver, clock));
  }
  const { openPostgresDriver } = await import('./postgres/driver.ts');
  const driver = await openPostgresDriver(location, { isReader: true, warn: () => undefined });
  return orClosed(driver, () => openStoreReader(driver, clock));
}

async function orClosed<T>(driver: Driver, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await driver.close();
    // A failure of the driver to read is said as one to open the inbox.
    throw driver.openError(error instanceof DataError ? error.cause : error);
  }
}
