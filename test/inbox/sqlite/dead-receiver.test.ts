import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { TakeResult } from '../../../src/inbox/inbox.ts';
import { openDatabase } from '../../../src/inbox/sqlite/open-database.ts';
import { FakeClock } from '../../support/clock.ts';
import { clock, open, takeOne, takeStored } from '../stores.ts';
import { arrivalOf, freshFile } from '../support.ts';

/** Takes a lead that an earlier receiver with our own pid holds a lease on; `host`: where that one ran. */
async function takeAfterReceiverOn(host: string): Promise<TakeResult> {
  const path = freshFile('inbox.db');
  const before = await open(path, { targets: ['t'], leaseMs: 1000 });
  await takeOne(before, arrivalOf({ id: 'a' }));
  await before.close();
  const database = await openDatabase(path, () => undefined);
  const owner = JSON.stringify({ pid: process.pid, host, started: 1, token: 'of another run' });
  database.prepare('UPDATE work SET owner = ?').run([owner]);
  database.close();
  const after = await open(path, { targets: ['t'], leaseMs: 1000, pid: process.pid });
  return takeOne(after, arrivalOf({ id: 'a' }));
}

describe('a lease of another receiver that had the same pid', () => {
  it('ends at once when that receiver ran on this host', async () => {
    // What it handed over nobody knows.
    const taken = { targets: [{ name: 't', tries: 1 }], busy: false };
    expect(await takeAfterReceiverOn(hostname())).toMatchObject(taken);
  });

  // As in two containers on one volume, where every run has the same pid.
  it('holds when that receiver ran on another host', async () => {
    expect(await takeAfterReceiverOn('elsewhere.example')).toMatchObject({ targets: [], busy: true });
  });
});

/** What is outstanding for a receiver that left the file without closing it; `host`: where it ran, `silentMs` ago. */
async function outstandingAfterReceiverOn(host: string, silentMs: number): Promise<unknown> {
  const path = freshFile('inbox.db');
  const before = await open(path, { targets: ['t'] });
  await takeOne(before, arrivalOf({ id: 'a' }));
  await before.close();
  const database = await openDatabase(path, () => undefined);
  const [{ target } = {}] = database.prepare('SELECT target FROM work').all([]);
  const owner = JSON.stringify({ pid: process.pid, host, started: 1, token: 'of another run' });
  const seen = clock.now() - silentMs;
  database.prepare('INSERT INTO receivers VALUES (?, ?, ?)').run([owner, target ?? '', seen]);
  database.close();
  const after = await open(path, { pid: process.pid });
  return (await after.outstanding())[0]?.wantedElsewhere;
}

describe('what is outstanding for a receiver that was killed', () => {
  const dayMs = 86_400_000;

  it('is wanted by nobody any more', async () => {
    expect(await outstandingAfterReceiverOn(hostname(), 0)).toBe(false);
  });

  it('is wanted for a week where that receiver ran on another host, and may still run', async () => {
    expect(await outstandingAfterReceiverOn('elsewhere.example', 6 * dayMs)).toBe(true);
    expect(await outstandingAfterReceiverOn('elsewhere.example', 8 * dayMs)).toBe(false);
  });

  it('is wanted as long as another receiver writes', async () => {
    const path = freshFile('inbox.db');
    const running = await open(path, { targets: ['t'] });
    await takeOne(running, arrivalOf({ id: 'a' }));
    clock.advance(8 * dayMs);
    await takeOne(running, arrivalOf({ id: 'b' }));
    const database = await openDatabase(path, () => undefined);
    const owners = database.prepare('SELECT owner, seen FROM receivers').all([]);
    database.close();
    expect(owners).toMatchObject([{ seen: clock.now() }]);
  });
});

it('of a receiver whose clock was ahead, a lease holds nobody', async () => {
  const location = freshFile('inbox.db');
  const own = new FakeClock();
  const options = { targets: ['t'], leaseMs: 60_000 };
  const ahead = await open(location, { ...options, clock: new FakeClock(own.now() + 3_600_000) });
  const lease = { ...(await takeStored(ahead, arrivalOf({ id: 'a' }))), target: 't' };
  const other = await open(location, { ...options, clock: own });
  expect(await other.lease([lease])).toMatchObject([{ state: 'leased' }]);
});
