import type { Inbox, InboxReader } from './inbox.ts';
import type { StoreOptions } from './inbox-options.ts';

/** What is left out is not wanted: no targets, no leases, no nonces, nothing redacted. */
export type InboxOptions = Pick<StoreOptions, 'location' | 'clock'> & Partial<StoreOptions>;

/**
 * Opens the store that the location names, and loads no other one. Throws a `ConfigError` when it is damaged, unreadable,
 * or of another program or a newer version.
 */
export async function openInbox(options: InboxOptions): Promise<Inbox> {
  const store: StoreOptions = {
    targets: [],
    leaseMs: 0,
    nonceLifetimeMs: 0,
    redact: { path: ({ path }) => path, headers: ({ rawHeaders }) => rawHeaders },
    pid: 0,
    warn: () => undefined,
    ...options,
  };
  if (store.location === ':memory:') {
    const { MemoryInbox } = await import('./memory/memory-inbox.ts');
    return new MemoryInbox(store);
  }
  const { openSqliteInbox } = await import('./sqlite/sqlite-inbox.ts');
  return openSqliteInbox(store);
}

/** Opens the store for reading only; a file must exist, and stays as it is. Throws as `openInbox` does. */
export async function openInboxReader({ location, clock }: InboxOptions): Promise<InboxReader> {
  if (location === ':memory:') return openInbox({ location, clock });
  const { openSqliteReader } = await import('./sqlite/sqlite-inbox.ts');
  return openSqliteReader(location);
}
