import Libsql from 'libsql';
import { expect, it } from 'vitest';
import { open } from '../stores.ts';
import { arrivalsTogether, doneAt, freshFile } from '../support.ts';

const counted = (path: string): unknown => {
  const database = new Libsql(path);
  const row = database.prepare('SELECT COUNT(*) AS contents, SUM(LENGTH(body)) AS bytes FROM contents').get();
  database.close();
  return row;
};

it('stores the body of several leads once, until the last of them is dropped', async () => {
  const path = freshFile('inbox.db');
  const inbox = await open(path, { targets: ['t'] });
  const body = '[{"id":"a"},{"id":"b"}]';
  for (let i = 0; i < 2; i += 1) await inbox.take(arrivalsTogether(['{"id":"a"}', '{"id":"b"}']));
  await inbox.take(arrivalsTogether(['{"id":"c"}']));
  expect(counted(path)).toMatchObject({ contents: 2, bytes: 2 * body.length });
  await inbox.record([doneAt({ leadId: 'a', seq: 1 }, 't')]);
  expect(await inbox.prune(5_000)).toBe(2);
  expect(counted(path)).toMatchObject({ contents: 2 });
  await inbox.record([doneAt({ leadId: 'b', seq: 2 }, 't')]);
  expect(await inbox.prune(5_000)).toBe(2);
  expect(counted(path)).toMatchObject({ contents: 0 });
});
