import { expect, it } from 'vitest';
import { ConcurrencyLimit } from '../../../src/receiver/targets/concurrency-limit.ts';

const never = new AbortController().signal;
const long = 60_000;

it('starts work at once while a place is free, and the rest in the order of arrival', async () => {
  const limit = new ConcurrencyLimit(1);
  const order: string[] = [];
  expect(await limit.acquire(long, never)).toBe(true);
  const waiting = ['a', 'b'].map(async (name) => {
    await limit.acquire(long, never);
    order.push(name);
  });
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  limit.release();
  await waiting[0];
  expect(order).toEqual(['a']);
  limit.release();
  await waiting[1];
  expect(order).toEqual(['a', 'b']);
});

it('keeps a released place free when no work waits for it', async () => {
  const limit = new ConcurrencyLimit(1);
  await limit.acquire(long, never);
  limit.release();
  expect(await limit.acquire(long, never)).toBe(true);
});

it('refuses work that waited for its time-out, and gives the next place to other work', async () => {
  const limit = new ConcurrencyLimit(1);
  await limit.acquire(long, never);
  expect(await limit.acquire(1, never)).toBe(false);
  const next = limit.acquire(long, never);
  limit.release();
  expect(await next).toBe(true);
});

it('refuses work that waits when the signal aborts', async () => {
  const limit = new ConcurrencyLimit(1);
  await limit.acquire(long, never);
  const controller = new AbortController();
  const waiting = limit.acquire(long, controller.signal);
  controller.abort();
  expect(await waiting).toBe(false);
});
