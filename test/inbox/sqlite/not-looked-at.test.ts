import { symlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/errors.ts';
import { open, takeOne } from '../stores.ts';
import { all, arrivalOf, freshDirectory } from '../support.ts';

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
