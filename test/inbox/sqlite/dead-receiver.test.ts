import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { openDatabase } from '../../../src/inbox/sqlite/database.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf, freshFile } from '../support.ts';

it.each([
  { what: 'is free at once on our own host', host: hostname(), taken: { targets: ['t'], busy: false } },
  // As in two containers on one volume, where every run has the same pid.
  { what: 'holds on another host', host: 'elsewhere.example', taken: { targets: [], busy: true } },
])("a lease of another receiver that had this one's pid $what", async ({ host, taken }) => {
  const path = freshFile('inbox.db');
  const before = await open(path, { targets: ['t'], leaseMs: 1000 });
  await takeOne(before, arrivalOf({ id: 'a' }));
  await before.close();
  const database = await openDatabase(path);
  const owner = JSON.stringify({ pid: process.pid, host, started: null, token: 'of another run' });
  database.prepare('UPDATE work SET owner = ?').run([owner]);
  database.close();
  const after = await open(path, { targets: ['t'], leaseMs: 1000, pid: process.pid });
  expect(await takeOne(after, arrivalOf({ id: 'a' }))).toMatchObject(taken);
});
