import { noteText } from '../../../../src/errors.ts';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findPassword, passwordFromFile } from '../../../../src/inbox/postgres/database-location.ts';

const account = { host: { name: 'db', port: 5432, isSocket: false }, database: 'leads', user: 'me' };
const socket = { ...account, host: { name: '/run', port: 5432, isSocket: true } };

test.each([
  ['db:5432:leads:me:pw', 'pw'],
  ['*:*:*:*:pw', 'pw'],
  ['#db:5432:leads:me:no\nother:5432:leads:me:no\ndb:5433:leads:me:no\ndb:5432:leads:me:yes', 'yes'],
  ['db:5432:leads:me:first\n*:*:*:*:second', 'first'],
  ['db:5432:leads:me:a\\:b\\\\c', 'a:b\\c'],
  ['db:5432:leads:me:pw:trailing', 'pw'],
  ['db:5432:leads:me:with space \r\n', 'with space '],
  ['db:5432:leads:you:pw', undefined],
  ['db:5432:leads:me', undefined],
  ['db:5432:leads:me:', undefined],
  ['\\*:5432:leads:me:pw', undefined],
  ['', undefined],
])('%j gives %j', (text, password) => {
  expect(findPassword(text, account)).toBe(password);
});

test('a unix socket is found by its directory, or as localhost', () => {
  expect(findPassword('localhost:*:*:*:pw', socket)).toBe('pw');
  expect(findPassword('/run:*:*:*:pw', socket)).toBe('pw');
  expect(findPassword('localhost:*:*:*:pw', account)).toBeUndefined();
});

test('names with colons and backslashes are found escaped', () => {
  const odd = { ...account, database: 'a:b', user: 'c\\d' };
  expect(findPassword('*:*:a\\:b:c\\\\d:pw', odd)).toBe('pw');
});

test('a file that others may read is ignored, with a warning; a missing one without', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'leads-pgpass-')), 'pass');
  const warnings: string[] = [];
  const read = (file: string) =>
    passwordFromFile({ path: file, hasMode: true }, account, (found) => void warnings.push(noteText(found)));
  writeFileSync(path, '*:*:*:*:pw\n', { mode: 0o600 });
  expect((await read(path))?.reveal()).toBe('pw');
  expect(await read(`${path}.missing`)).toBeUndefined();
  expect(warnings).toEqual([]);
  chmodSync(path, 0o640);
  expect(await read(path)).toBeUndefined();
  expect(await read(tmpdir())).toBeUndefined();
  expect(warnings).toEqual([
    expect.stringContaining('chmod 0600'),
    expect.stringContaining('not a plain file'),
  ]);
});

test.runIf(process.getuid?.() === 0)(
  "a credential of systemd's is read, whose access list shows as a group's",
  async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'leads-pgpass-')), 'pass');
    writeFileSync(path, '*:*:*:*:pw\n');
    chmodSync(path, 0o440);
    const warnings: string[] = [];
    const found = await passwordFromFile(
      { path, hasMode: true },
      account,
      (found) => void warnings.push(noteText(found)),
    );
    expect([found?.reveal(), warnings]).toEqual(['pw', []]);
  },
);
