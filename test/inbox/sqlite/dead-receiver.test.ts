import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { TakeResult } from '../../../src/inbox/inbox.ts';
import { openDatabase } from '../../../src/inbox/sqlite/schema/open-database.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf, freshFile } from '../support.ts';

/** Takes a lead that an earlier receiver with our own pid holds a lease on; `host`: where that one ran. */
async function takeAfterReceiverOn(host: string): Promise<TakeResult> {
  const path = freshFile('inbox.db');
  const before = await open(path, { targets: ['t'], leaseMs: 1000 });
  await takeOne(before, arrivalOf({ id: 'a' }));
  await before.close();
  const database = await openDatabase(path, 0);
  const owner = JSON.stringify({ pid: process.pid, host, started: null, token: 'of another run' });
  database.prepare('UPDATE work SET owner = ?').run([owner]);
  database.close();
  const after = await open(path, { targets: ['t'], leaseMs: 1000, pid: process.pid });
  return takeOne(after, arrivalOf({ id: 'a' }));
}

describe('a lease of another receiver that had the same pid', () => {
  it('ends at once when that receiver ran on this host', async () => {
    expect(await takeAfterReceiverOn(hostname())).toMatchObject({ targets: ['t'], busy: false });
  });

  // As in two containers on one volume, where every run has the same pid.
  it('holds when that receiver ran on another host', async () => {
    expect(await takeAfterReceiverOn('elsewhere.example')).toMatchObject({ targets: [], busy: true });
  });
});
