import { expect, it } from 'vitest';
import { systemClock } from '../src/time/clock.ts';

const day = 86_400_000;

it('sleeps as long as it is told, also for longer than one timer can', async () => {
  const stop = new AbortController();
  const month = systemClock.sleep(30 * day, stop.signal).then(
    () => 'awake',
    (reason: unknown) => reason,
  );
  const moment = systemClock.sleep(50).then(() => 'a moment');
  expect(await Promise.race([month, moment])).toBe('a moment');
  stop.abort('told to stop');
  expect(await month).toBe('told to stop');
});
