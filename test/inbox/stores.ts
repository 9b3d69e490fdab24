import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Arrival, ClaimedLead, Inbox, StoredRef, TakeResult } from '../../src/inbox/inbox.ts';
import { type InboxLocation, type InboxOptions, openInbox } from '../../src/inbox/open-inbox.ts';
import { turnMs } from '../../src/inbox/store-options.ts';
import { FakeClock } from '../support/clock.ts';
import { newInboxUrl } from '../support/postgres/address.ts';
import { sharedPostgres } from '../support/postgres/shared.ts';
import { until } from '../support/until.ts';
import { DatabaseClock } from './postgres/database-clock.ts';
import { locationOf } from './postgres/location.ts';
import { freshDirectory } from './support.ts';

export interface Store {
  readonly name: string;
  /** A location that no other inbox uses. */
  readonly newLocation: () => InboxLocation;
  /** Whether what it holds outlives the process, and can be opened by several receivers at a time. */
  readonly isShared: boolean;
}

const postgres = await sharedPostgres();
const databaseClock = postgres === undefined ? undefined : await DatabaseClock.create(postgres);

export const clock = databaseClock ?? new FakeClock();

/** Lets the time of `clock` go on until the work is done. */
export async function whileTimePasses<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = (): void => void (isDone = true);
  work.then(done, done);
  const isDoneLater = (): boolean => {
    clock.advance(turnMs);
    return isDone;
  };
  await until(isDoneLater, 'the work', 120_000);
  return work;
}

/** Every store passes the tests of this folder: SQLite in `npm test`, PostgreSQL in `npm run prove`. */
export const stores: readonly Store[] =
  postgres === undefined || databaseClock === undefined
    ? [
        { name: 'SQLite', newLocation: () => join(freshDirectory(), 'deep', 'inbox.db'), isShared: true },
        { name: 'SQLite in memory', newLocation: () => ':memory:', isShared: false },
      ]
    : [
        {
          name: `PostgreSQL ${postgres.version}`,
          newLocation: () => locationOf(newInboxUrl(postgres, { parameters: databaseClock.parameters })),
          isShared: true,
        },
      ];

export const sharedStores = stores.filter(({ isShared }) => isShared);

/** Opens an inbox that is closed after the test. */
export async function open(location: InboxLocation, options: Partial<InboxOptions> = {}): Promise<Inbox> {
  const inbox = await openInbox({ clock, ...options, location });
  onTestFinished(() => inbox.close());
  return inbox;
}

export async function takeOne(inbox: Inbox, arrival: Arrival): Promise<TakeResult> {
  const [result] = await inbox.take([arrival]);
  if (result === undefined) throw new Error('the inbox gave no verdict');
  return result;
}

/** Takes a delivery that is stored under a number. */
export async function takeStored(inbox: Inbox, arrival: Arrival): Promise<StoredRef> {
  const [stored] = await takeAllStored(inbox, [arrival]);
  if (stored === undefined) throw new Error('the inbox gave no verdict');
  return stored;
}

export const takeAllStored = async (inbox: Inbox, arrivals: readonly Arrival[]): Promise<StoredRef[]> =>
  (await inbox.take(arrivals)).map((result) => {
    if (result.kind === 'rejected') throw new Error(`rejected: ${result.detail}`);
    return { leadId: result.leadId, seq: result.seq };
  });

/** Claims the lead that is due first for the target. */
export async function claimFirst(inbox: Inbox, target: string): Promise<ClaimedLead> {
  const [first] = await inbox.claim(target, 1);
  if (first === undefined) throw new Error('nothing is due');
  return first;
}
