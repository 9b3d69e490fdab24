import Libsql from 'libsql';
import { expect, it } from 'vitest';
import { open } from '../stores.ts';
import { deliveryOf, doneAt, freshFile } from '../support.ts';

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
  const [a, b] = [
    { start: 1, end: 11 },
    { start: 12, end: 22 },
  ];
  for (let i = 0; i < 2; i += 1) {
    const delivery = deliveryOf(body);
    await inbox.take([
      { delivery, leadId: 'a', place: a },
      { delivery, leadId: 'b', place: b },
    ]);
  }
  await inbox.take([{ delivery: deliveryOf('[{"id":"c"}]'), leadId: 'c', place: a }]);
  expect(counted(path)).toMatchObject({ contents: 2, bytes: 2 * body.length });
  await inbox.record([doneAt({ leadId: 'a', seq: 1 }, 't')]);
  expect(await inbox.prune(5_000)).toBe(2);
  expect(counted(path)).toMatchObject({ contents: 2 });
  await inbox.record([doneAt({ leadId: 'b', seq: 2 }, 't')]);
  expect(await inbox.prune(5_000)).toBe(2);
  expect(counted(path)).toMatchObject({ contents: 0 });
});
