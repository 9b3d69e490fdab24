import { expect, it } from 'vitest';
import type { Connection } from '../../../src/inbox/postgres/connection/database-connections.ts';
import { TransactionQueue } from '../../../src/inbox/postgres/write/transaction-queue.ts';
import { sql } from '../../../src/inbox/postgres/sql.ts';
import { FakeClock } from '../../support/clock.ts';

/** A queue whose connection is used as `run` says. */
function queueOver(clock: FakeClock, run: Connection['run']) {
  const batches: number[] = [];
  const queue = new TransactionQueue<number, number>({
    connections: {
      ...{ location: '', schema: 's', pool: () => ({ open: 1, busy: 0, waiting: 0, errors: 0 }) },
      use: (work) => work({ run }),
      close: () => Promise.resolve(),
    },
    planOf: (works) => ({
      questions: {},
      decide: () => Promise.resolve({ kind: 'write', statements: sql``, results: works }),
    }),
    sizeOf: () => 1,
    clock,
    onCommit: (works) => batches.push(works),
  });
  return { queue, batches };
}

it('what is added while a transaction is under way goes in the next one', async () => {
  const { queue, batches } = queueOver(new FakeClock(), () => Promise.resolve([[{ settings: '' }]]));
  const first = queue.add(1);
  await new Promise(setImmediate);
  expect(await Promise.all([first, queue.add(2), queue.add(3)])).toEqual([1, 2, 3]);
  expect(batches).toEqual([1, 2]);
});

it('what waited behind a transaction until the database was given up has waited long enough', async () => {
  const clock = new FakeClock();
  const gone = new Error('no answer');
  const waited: Promise<unknown>[] = [];
  const { queue, batches } = queueOver(clock, () => {
    waited.push(queue.add(2).catch((error: unknown) => error));
    clock.advance(5000);
    return Promise.reject(gone);
  });
  await expect(queue.add(1)).rejects.toBe(gone);
  expect(await waited[0]).toBe(gone);
  expect(waited).toHaveLength(1);
  expect(batches).toEqual([]);
});
