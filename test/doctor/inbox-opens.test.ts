import { mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeClock } from '../support/clock.ts';
import { checkFreeSpace, checkInbox, probeStorage } from '../../src/doctor/inbox-opens.ts';

test('the file that is written beside an inbox is a new one, whatever somebody put there', async () => {
  const place = mkdtempSync(join(tmpdir(), 'leads-probe-'));
  const [other, link] = ['other.txt', '.leads-doctor-123'];
  writeFileSync(join(place, other), 'kept');
  symlinkSync(join(place, other), join(place, link));
  const { problem } = await probeStorage(join(place, 'inbox.db'));
  expect(problem).toBeUndefined();
  expect(readFileSync(join(place, other), 'utf8')).toBe('kept');
  expect(readdirSync(place).sort()).toEqual([link, other]);
});

const mib = 1024 * 1024;
const storage = { directory: '/data', freeBytes: 5 * 1024 * mib, volatile: undefined, problem: undefined };

test.each([
  [{ problem: 'ENOSPC' }, 'fail', '/data has no space left', 'free some, or name another place with --inbox'],
  [
    { problem: 'EROFS' },
    'fail',
    '/data cannot be written (EROFS)',
    'make it writable, or name another place',
  ],
  [
    { volatile: 'a tmpfs' },
    'warn',
    '/data is on a tmpfs',
    'name another place with --inbox or LEADS_DATA_DIR',
  ],
  [{}, 'pass', '/data/inbox.db is made by the first listen', ''],
])('an inbox that is not made yet, on storage with %j, is a %s', async (changes, result, detail, hint) => {
  const check = await checkInbox('/data/inbox.db', { ...storage, ...changes }, new FakeClock(0));
  expect(check).toMatchObject({ result, detail });
  expect(String(check.hint ?? '')).toContain(hint);
});

test.each([
  [20 * 1024 * mib, 'pass', '20 GiB free in /data'],
  [500 * mib, 'warn', '500 MiB free in /data'],
  [50 * mib, 'fail', '50 MiB free in /data'],
])('%i bytes of free space are a %s', (freeBytes, result, detail) => {
  expect(checkFreeSpace({ ...storage, freeBytes })).toMatchObject({ result, detail });
});
