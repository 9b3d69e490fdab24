import { expect, test } from 'vitest';
import { type Release, Slots } from '../../src/sender/slots.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Acquires so many slots, each of which is kept until `release` is called with its number. */
function observed(slots: Slots, count: number) {
  const started: number[] = [];
  const releases = new Map<number, Release>();
  for (let number = 1; number <= count; number += 1) {
    void Promise.resolve(slots.acquire()).then((release) => {
      started.push(number);
      releases.set(number, release);
    });
  }
  const release = async (number: number): Promise<void> => {
    releases.get(number)?.();
    await settle();
  };
  return { started, release };
}

test('slots are given in order of arrival, as many at one time as there are', async () => {
  const { started, release } = observed(new Slots(2), 4);
  await settle();
  expect(started).toEqual([1, 2]);
  await release(2);
  expect(started).toEqual([1, 2, 3]);
  await release(1);
  await release(3);
  expect(started).toEqual([1, 2, 3, 4]);
});

test('a hundred thousand pieces of work that end at once do not overflow the stack', async () => {
  const slots = new Slots(1);
  const releaseFirst = await slots.acquire();
  const order: number[] = [];
  const all = Array.from({ length: 100_000 }, async (_, i) => {
    const release = await slots.acquire();
    order.push(i);
    release();
  });
  releaseFirst();
  await Promise.all(all);
  expect(order).toEqual(Array.from({ length: 100_000 }, (_, i) => i));
});
