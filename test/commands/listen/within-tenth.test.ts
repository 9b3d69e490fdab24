import { expect, test } from 'vitest';
import { withinTenth } from '../../../src/commands/listen/open-receiver.ts';

test('what takes long is done in a tenth of the time, and what is short each time', () => {
  let now = 0;
  const work = withinTenth({ steady: () => now }, (ms: number) => (now += ms));
  const done = (ms: number, pause: number, times: number): number =>
    Array.from({ length: times }, () => {
      now += pause;
      return work(ms);
    }).filter((result) => result !== undefined).length;
  expect(done(1, 10, 1000)).toBe(1000);
  expect(done(20, 0, 100)).toBeLessThan(15);
  now += 2600;
  expect(done(1000, 100, 1000)).toBeLessThan(15);
});
