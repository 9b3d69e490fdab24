import { hostname } from 'node:os';
import { threadId } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { describeSelf, type LockHolder } from '../../../src/files/lock.ts';
import type { TakeResult } from '../../../src/inbox/inbox.ts';
import { openDatabase } from '../../../src/inbox/sqlite/open-database.ts';
import { FakeClock } from '../../support/clock.ts';
import { clock, open, takeOne, takeStored } from '../stores.ts';
import { arrivalOf, freshFile } from '../support.ts';

/** Takes a lead that an earlier receiver with our own pid holds a lease on; `host`: where that one ran, `more`: what else it said. */
async function takeAfterReceiverOn(host: string, more: Partial<LockHolder> = {}): Promise<TakeResult> {
  const path = freshFile('inbox.db');
  const before = await open(path, { targets: ['t'], leaseMs: 1000 });
  await takeOne(before, arrivalOf({ id: 'a' }));
  await before.close();
  const database = await openDatabase(path, () => undefined);
  const owner = JSON.stringify({ pid: process.pid, host, started: null, token: 'of another run', ...more });
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
    const { pidNamespace, thread, started } = await describeSelf(process.pid);
    for (const own of [{ pidNamespace }, { thread }, { pidNamespace, thread, started }])
      expect(await takeAfterReceiverOn(hostname(), own)).toMatchObject({ busy: false });
  });

  // With the network of their host, or in one pod, containers share its name, and each has a process 1.
  it('holds when that receiver ran in another container with the name of this host', async () => {
    const own = await describeSelf(process.pid);
    const elsewhere = { ...own, token: 'of another run', pidNamespace: 'pid:[1]' };
    expect(await takeAfterReceiverOn(hostname(), elsewhere)).toMatchObject({ targets: [], busy: true });
  });

  it('holds when that receiver runs in another thread, and ends when a former process had that thread', async () => {
    const { started } = await describeSelf(process.pid);
    const other = { thread: threadId + 1, started };
    expect(await takeAfterReceiverOn(hostname(), other)).toMatchObject({ targets: [], busy: true });
    const former = { ...other, started: 'before' };
    expect(await takeAfterReceiverOn(hostname(), former)).toMatchObject({ busy: false });
  });

  // As in two containers on one volume, where every run has the same pid.
  it('holds when that receiver ran on another host', async () => {
    expect(await takeAfterReceiverOn('elsewhere.example')).toMatchObject({ targets: [], busy: true });
  });
});

/** What is outstanding for a receiver that left the file without closing it; `host`: where it ran, `silentMs` ago. */
async function outstandingAfterReceiverOn(
  host: string,
  silentMs: number,
  more: Partial<LockHolder> = {},
): Promise<unknown> {
  const path = freshFile('inbox.db');
  const before = await open(path, { targets: ['t'] });
  await takeOne(before, arrivalOf({ id: 'a' }));
  await before.close();
  const database = await openDatabase(path, () => undefined);
  const [{ target } = {}] = database.prepare('SELECT target FROM work').all([]);
  const owner = JSON.stringify({ pid: process.pid, host, started: null, token: 'of another run', ...more });
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
    const container = { pidNamespace: 'pid:[1]' };
    expect(await outstandingAfterReceiverOn(hostname(), 6 * dayMs, container)).toBe(true);
    expect(await outstandingAfterReceiverOn(hostname(), 8 * dayMs, container)).toBe(false);
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
