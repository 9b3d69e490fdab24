import { join } from 'node:path';
import { expect, it } from 'vitest';
import { authorityOf, listenProcess } from '../support/listen-process.ts';
import { full } from '../support/faults.ts';
import { senderTo } from '../support/sender.ts';
import { storedIds } from '../support/stored-ids.ts';

const ids = full ? 100 : 20;
const parallel = full ? 100 : 50;
const token = 'token-of-the-tests';

it('promise 2: one id is stored once, across a restart and parallel duplicates', async () => {
  const first = await listenProcess(['--token', token, '--port', '0']);
  const { home } = first;
  const answers = new Map<string, number>();
  let listener = first;
  for (const run of [1, 2]) {
    const sender = senderTo(listener.url, { token, authority: authorityOf(home) });
    for (let i = 0; i < ids; i += 1) {
      const all = Array.from({ length: parallel }, () => sender.deliver({ id: `lead-${i}` }));
      for (const { status, text } of await Promise.all(all)) {
        const answer = `${status} ${(JSON.parse(text) as { status?: string }).status ?? ''}`;
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
      }
    }
    sender.close();
    await listener.end('SIGKILL');
    if (run === 1) listener = await listenProcess(['--token', token, '--port', '0'], { home });
  }
  const stored = await storedIds(join(home, 'data', 'inbox.db'));
  console.log(
    `promise 2: ${parallel} parallel duplicates × ${ids} ids, twice, a kill between: stored ${stored.length}, ` +
      `answers ${JSON.stringify(Object.fromEntries(answers))}`,
  );
  expect(stored.sort()).toEqual(Array.from({ length: ids }, (_, i) => `lead-${i}`).sort());
  expect(Object.fromEntries(answers)).toEqual({
    '200 accepted': ids,
    '200 duplicate': 2 * ids * parallel - ids,
  });
});
