import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Connection } from '../../../src/inbox/postgres/connection/database-connections.ts';
import { Confirmations } from '../../../src/inbox/postgres/write/unconfirmed-commits.ts';
import { TransactionQueue } from '../../../src/inbox/postgres/write/transaction-queue.ts';
import { identifier, sql } from '../../../src/inbox/postgres/sql.ts';
import { FakeClock } from '../../support/clock.ts';

const commitMs = 10;
const schema = identifier('s');

/** A queue whose transactions take `commitMs`, and the row of another receiver's. */
function queueBeside(
  other: { readonly isActive: boolean } | undefined,
  {
    accepted = [],
    confirm,
  }: { readonly accepted?: readonly number[]; readonly confirm?: () => Promise<never> } = {},
) {
  const notes: string[] = [];
  const ended = new AbortController();
  const clock = new FakeClock();
  const batches: number[] = [];
  let calls = 0;
  const connection: Connection = {
    run({ text }) {
      calls += 1;
      // Behind what the only transaction asks and writes.
      if (calls === 3 && confirm !== undefined) return confirm();
      if (text.includes('confirm_1')) notes.push(text);
      if (!text.includes('BEGIN ISOLATION LEVEL')) return Promise.resolve([]);
      clock.advance(commitMs);
      const row = { lane: randomUUID(), seqs: '{[1,2)}', is_lost: true, is_active: other?.isActive };
      const answers = JSON.stringify({ unconfirmed: other === undefined ? null : [row] });
      return Promise.resolve([[{ settings: '' }], [{ answers }]]);
    },
  };
  const confirmations = new Confirmations(schema);
  const queue = new TransactionQueue<number, number>({
    connections: {
      ...{ location: '', schema: 's', pool: () => ({ open: 1, busy: 0, waiting: 0, errors: 0 }) },
      use: (work) => work(connection),
      close: () => Promise.resolve(),
    },
    confirmations,
    planOf: (works) => ({
      question: sql``,
      decide: () => Promise.resolve({ kind: 'write', statements: sql``, results: works, accepted }),
    }),
    sizeOf: () => 1,
    clock,
    ended: ended.signal,
    onCommit: (works) => batches.push(works),
  });
  const add = (count: number): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => queue.add(i)));
  return { clock, batches, add, notes, ended };
}

const other = { isActive: true };

it('a queue beside other receivers waits until those that it answered have come again', async () => {
  const { clock, batches, add } = queueBeside(other);
  await add(3);
  await expect.poll(() => clock.sleeps).toEqual([commitMs / 2]);
  const first = add(2);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(batches).toEqual([3]);
  await Promise.all([first, add(1)]);
  expect(batches).toEqual([3, 3]);
});

it('a queue beside other receivers waits for half the time of its last transaction at most', async () => {
  const { clock, batches, add } = queueBeside(other);
  await add(3);
  await expect.poll(() => clock.sleeps).toEqual([commitMs / 2]);
  const some = add(2);
  clock.advance(commitMs / 2);
  await some;
  expect(batches).toEqual([3, 2]);
});

it.each([
  ['beside no other receiver', undefined, 3],
  ['beside one that was killed', { isActive: false }, 3],
  ['after a single delivery', other, 1],
])('a queue does not wait %s', async (_, beside, count) => {
  const { clock, batches, add } = queueBeside(beside);
  await add(count);
  await add(1);
  expect(batches).toEqual([count, 1]);
  expect(clock.sleeps).toEqual([]);
});

it('what waited for a confirmation until the database was given up has waited long enough', async () => {
  const gone = new Error('no answer');
  const waited: Promise<unknown>[] = [];
  const { clock, batches, add } = queueBeside(undefined, {
    accepted: [1],
    confirm: () => {
      waited.push(add(1).catch((error: unknown) => error));
      clock.advance(5000);
      return Promise.reject(gone);
    },
  });
  await add(1);
  await expect.poll(() => waited.length).toBeGreaterThan(0);
  expect(await waited[0]).toBe(gone);
  expect(batches).toEqual([1]);
});

/** One whose first note of what it accepted was not answered, and is to be made again after a second. */
async function queueWithoutAnswer() {
  const queue = queueBeside(undefined, {
    accepted: [1],
    confirm: () => {
      queue.clock.advance(5000);
      return Promise.reject(new Error('no answer'));
    },
  });
  await queue.add(1);
  await expect.poll(() => queue.clock.sleeps).toEqual([1000]);
  return queue;
}

it('what the database did not take of an acceptance is said again without another transaction', async () => {
  const { clock, batches, notes } = await queueWithoutAnswer();
  expect(notes).toEqual([]);
  clock.advance(1000);
  await expect.poll(() => notes.length).toBe(1);
  expect(batches).toEqual([1]);
  await new Promise(setImmediate);
  expect(clock.sleeps).toEqual([1000]);
});

it('nothing is said again once the inbox closes', async () => {
  const { clock, notes, ended } = await queueWithoutAnswer();
  ended.abort();
  clock.advance(1000);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(notes).toEqual([]);
});
