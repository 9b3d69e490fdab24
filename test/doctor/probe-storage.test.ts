import { mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { probeStorage } from '../../src/doctor/inbox-opens.ts';

test('the file that is written beside an inbox is a new one, whatever somebody put there', async () => {
  const place = mkdtempSync(join(tmpdir(), 'leads-probe-'));
  const [other, link] = ['other.txt', '.leads-doctor-123'];
  writeFileSync(join(place, other), 'kept');
  symlinkSync(join(place, other), join(place, link));
  const { problem, writtenAt } = await probeStorage(join(place, 'inbox.db'), 123);
  expect([problem, typeof writtenAt]).toEqual([undefined, 'number']);
  expect(readFileSync(join(place, other), 'utf8')).toBe('kept');
  expect(readdirSync(place).sort()).toEqual([link, other]);
});
