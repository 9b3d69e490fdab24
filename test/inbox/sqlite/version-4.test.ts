import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { InboxReader } from '../../../src/inbox/inbox.ts';
import { openInboxReader } from '../../../src/inbox/open-inbox.ts';
import { clock, open, takeOne } from '../stores.ts';
import { all, arrivalOf, freshFile } from '../support.ts';

/**
 * Made by the version before, which tried nothing again by itself: `forwarded` to an app and a command, `outstanding` for
 * the app, which refused it twice, and `interrupted`, which both were being handed when the receiver was killed.
 */
const fixture = fileURLToPath(new URL('inbox-of-version-4.db', import.meta.url));
const forward = 'forward http://127.0.0.1:45678/hook';

function copied(): string {
  const path = freshFile('inbox.db');
  copyFileSync(fixture, path);
  return path;
}

it('is read as it is', async () => {
  const reader = await openInboxReader({ location: copied(), clock });
  expect(await reader.outstanding()).toMatchObject([
    { target: 'exec', leads: 1, unscheduled: 1, dead: 0 },
    { target: 'forward http://127.0.0.1:45678', leads: 2, unscheduled: 2, dead: 0 },
  ]);
  expect(await reader.lackingTargets('outstanding')).toEqual([
    { target: 'forward http://127.0.0.1:45678', tries: 0, dueAt: undefined, dead: false },
  ]);
  expect(await all(reader.list({ verdicts: ['dead'] }))).toEqual([]);
  expect(await all(reader.list({ verdicts: ['pending'] }))).toHaveLength(2);
  await reader.close();
});

it('has counts of what it holds, without delays, and says that it does not know what was removed', async () => {
  const path = copied();
  const query = { since: 0, until: Number.MAX_SAFE_INTEGER, partMs: Number.MAX_SAFE_INTEGER };
  const counts = async (inbox: Pick<InboxReader, 'counts'>) => {
    const found = (await all(inbox.counts(query))).flat();
    return {
      deliveries: found.reduce((sum, { count }) => sum + count, 0),
      unknown: found.reduce((sum, { delaysUnknown }) => sum + delaysUnknown, 0),
    };
  };
  const reader = await openInboxReader({ location: path, clock });
  const before = await counts(reader);
  expect(before.deliveries).toBe((await all(reader.list({}))).length);
  expect(before.unknown).toBeGreaterThan(0);
  expect((await reader.extent()).countedSince).toBe(Number.MAX_SAFE_INTEGER);
  await reader.close();
  const inbox = await open(path, { targets: [forward] });
  expect(await counts(inbox)).toEqual(before);
  // A lead of it was erased, which nobody counted.
  expect((await inbox.extent()).countedSince).toBe(clock.now());
});

it('has nothing that is tried again by itself, until it comes once more or a person begins anew', async () => {
  const inbox = await open(copied(), { targets: [forward], leaseMs: 1000 });
  clock.advance(86_400_000);
  expect(await inbox.nextDueAt(forward)).toBeUndefined();
  const outstanding = { leadId: 'outstanding', seq: 2, target: forward };
  expect(await inbox.lease([outstanding])).toEqual([{ state: 'leased', tries: 0 }]);
  await inbox.release([outstanding]);
  expect(await inbox.nextDueAt(forward)).toBeUndefined();
  await takeOne(inbox, arrivalOf({ id: 'outstanding' }));
  await inbox.release([outstanding]);
  const since = clock.now();
  expect(await inbox.due(forward, since, 9)).toMatchObject([{ leadId: 'outstanding', since, tries: 0 }]);
  await inbox.beginAnew(['interrupted']);
  expect(await inbox.due(forward, since, 9)).toHaveLength(2);
  expect(await inbox.outstanding()).toMatchObject([{ unscheduled: 0 }, { leads: 2, unscheduled: 0 }]);
});

it('knows what was forwarded and what was erased', async () => {
  const inbox = await open(copied(), { targets: [forward] });
  expect(await takeOne(inbox, arrivalOf({ id: 'forwarded' }))).toMatchObject({ kind: 'duplicate' });
  expect(await takeOne(inbox, arrivalOf({ id: 'erased' }))).toMatchObject({ isErased: true });
});
