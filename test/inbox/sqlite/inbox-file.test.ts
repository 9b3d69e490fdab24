import { noteText } from '../../../src/errors.ts';
import { copyFileSync, existsSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/errors.ts';
import { loadLibsql } from '../../../src/inbox/sqlite/libsql.ts';
import { until } from '../../support/until.ts';
import { open, takeOne } from '../stores.ts';
import { all, arrivalOf, freshDirectory, freshFile } from '../support.ts';

it.each([
  ['deleted', 'was deleted or moved', (path: string) => rmSync(path)],
  [
    'replaced',
    'was replaced',
    (path: string) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
])('takes nothing any more, and says it once, when its file is %s', async (_, what, happens) => {
  const path = freshFile('inbox.db');
  const warnings: string[] = [];
  const inbox = await open(path, { warn: (found) => warnings.push(noteText(found)) });
  await takeOne(inbox, arrivalOf({ id: 'before' }));
  happens(path);
  const existed = existsSync(path);
  for (const id of ['a', 'b']) {
    await expect(takeOne(inbox, arrivalOf({ id }))).rejects.toThrow(CannotStoreError);
  }
  await expect(inbox.checkWritable()).rejects.toThrow(CannotStoreError);
  expect(warnings).toEqual([expect.stringContaining(what)]);
  expect(warnings[0]).toContain('503 until this receiver is restarted');
  expect(existsSync(path)).toBe(existed);
});

it('goes on where the log is emptied once it is copied, as programs do that back the database up', async () => {
  const path = freshFile('inbox.db');
  const inbox = await open(path);
  const Libsql = await loadLibsql();
  const other = new Libsql(path, { timeout: 0 });
  for (const id of ['a', 'b', 'c']) {
    await takeOne(inbox, arrivalOf({ id }));
    const empty = () => other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([])[0]?.['busy'] === 0;
    await until(empty, 'the log to be emptied');
  }
  other.close();
  await inbox.close();
});

it('fails what was taken in where the file cannot be looked at once it is committed', async () => {
  const [directory, link] = [freshDirectory(), join(freshDirectory(), 'link')];
  symlinkSync(directory, link);
  const inbox = await open(join(link, 'inbox.db'));
  rmSync(link);
  symlinkSync(link, link);
  const taken = await Promise.allSettled(['a', 'b', 'c'].map((id) => takeOne(inbox, arrivalOf({ id }))));
  const rejected = { status: 'rejected', reason: expect.any(CannotStoreError) as unknown };
  expect(taken).toMatchObject([rejected, rejected, rejected]);
  const found = await open(join(directory, 'inbox.db'));
  expect(await all(found.leads({}))).toHaveLength(3);
});

it('keeps an inbox file, its companions and its directory to their owner', async () => {
  const path = join(freshDirectory(), 'deep', 'inbox.db');
  await takeOne(await open(path), arrivalOf({ id: 'a' }));
  const modes = [path, `${path}-wal`, `${path}-shm`, dirname(path)].map(
    (file) => statSync(file).mode & 0o777,
  );
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o700]);
});
