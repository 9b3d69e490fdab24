import { expect, it } from 'vitest';
import { driftOf } from '../../src/time/clock.ts';

const headers = { date: 'Thu, 05 Feb 2026 12:00:00 GMT' };
/** In the middle of that second. */
const answered = Date.UTC(2026, 1, 5, 12, 0, 0, 500);
const hour = 3_600_000;

it.each([
  ['asked and answered at once', 0, 0, 0],
  // Simulated world 100548.
  ['a machine that slept until it read the answer', -5_000, 16 * hour, 0],
  ['a request that waited for its turn', -hour, 100, 0],
  ['a clock here that is ahead', hour, hour + 100, -hour],
  ['a clock here that is behind', -hour - 100, -hour, hour],
  ['a clock here that was set back meanwhile', 0, -hour, hour],
])('of %s, the drift is what no time in between explains', (_, asked, received, drift) => {
  expect(driftOf(headers, answered + asked, answered + received)).toBe(drift);
});
