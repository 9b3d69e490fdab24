import { expect, test } from 'vitest';
import { SlotQueue } from '../../src/sender/delivery-run.ts';

/** Enqueues work that notes its start and keeps its slot until `release` is called with its number. */
function observed(queue: SlotQueue, count: number): { started: number[]; release: (number: number) => void } {
  const started: number[] = [];
  const releases = new Map<number, () => void>();
  for (let number = 1; number <= count; number += 1) {
    queue.enqueue((release) => {
      started.push(number);
      releases.set(number, release);
    });
  }
  return { started, release: (number) => releases.get(number)?.() };
}

test('work starts in order of arrival, as many at one time as there are slots', () => {
  const { started, release } = observed(new SlotQueue(2), 4);
  expect(started).toEqual([1, 2]);
  release(2);
  expect(started).toEqual([1, 2, 3]);
  release(1);
  release(3);
  expect(started).toEqual([1, 2, 3, 4]);
});

test('while it is paused nothing starts; work that runs may end', () => {
  const queue = new SlotQueue(1);
  const { started, release } = observed(queue, 2);
  queue.pause();
  release(1);
  expect(started).toEqual([1]);
  queue.resume();
  expect(started).toEqual([1, 2]);
});

test('a hundred thousand pieces of work that end at once do not overflow the stack', () => {
  const queue = new SlotQueue(1);
  queue.pause();
  let done = 0;
  for (let i = 0; i < 100_000; i += 1) {
    queue.enqueue((release) => {
      done += 1;
      release();
    });
  }
  queue.resume();
  expect(done).toBe(100_000);
});
