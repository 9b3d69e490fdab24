import { expect, it } from 'vitest';
import {
  answering,
  isAwayForLong,
  nextTry,
  pauseMs,
  stateAfter,
  type TargetState,
} from '../../src/receiver/outbox-schedule.ts';
import type { TargetResult } from '../../src/receiver/targets/target.ts';

const second = 1000;
const hour = 3_600_000;
const failed = { to: 'forward', ok: false, answer: '500', durationMs: 1 } as const;
const down: TargetResult = { ...failed, isDown: true };

it('waits from seconds to an hour, and never as long as others', () => {
  const pauses = Array.from({ length: 14 }, (_, i) => pauseMs(i + 1, 0));
  expect(pauses.slice(0, 4)).toEqual([5 * second, 10 * second, 20 * second, 40 * second]);
  expect(pauses.at(-1)).toBe(hour);
  expect(pauseMs(10_000, 0)).toBe(hour);
  expect([pauseMs(1, 1), pauseMs(14, 0.5)]).toEqual([2.5 * second, 0.75 * hour]);
});

it('counts an outage once, however many tries met it, and forgets it when the target answers', () => {
  const first = stateAfter(answering, down, 0, 0);
  expect(first).toEqual({ outages: 1, pausedUntil: 5 * second });
  expect(stateAfter(first, down, second, 0)).toEqual(first);
  const second2 = stateAfter(first, down, 5 * second, 0);
  expect(second2).toEqual({ outages: 2, pausedUntil: 15 * second });
  expect(stateAfter(second2, { ...failed, ok: true }, 15 * second, 0)).toEqual(answering);
  expect(stateAfter(second2, { ...failed, status: 400 }, 15 * second, 0)).toEqual(answering);
});

it('knows a target that is away for long by its pauses, after an hour at the least', () => {
  let state: TargetState = answering;
  let at = 0;
  while (!isAwayForLong(state)) {
    at = state.pausedUntil;
    state = stateAfter(state, down, at, 1);
  }
  expect(at).toBeGreaterThan(hour / 2);
  expect(state.pausedUntil - at).toBe(hour / 2);
});

it('does what Retry-After asks, up to an hour, also where it asks again', () => {
  const asked = (retryAfterMs: number): TargetResult => ({ ...down, retryAfterMs });
  const first = stateAfter(answering, asked(60 * second), 0, 0);
  expect(first.pausedUntil).toBe(60 * second);
  expect(stateAfter(first, asked(60 * second), 30 * second, 0)).toEqual({
    outages: 1,
    pausedUntil: 90 * second,
  });
  expect(stateAfter(answering, asked(5 * hour), 0, 0).pausedUntil).toBe(hour);
});

it("puts off a lead that the target refuses, and none for an outage, which is the target's own", () => {
  const one = { tries: 3, since: 0, giveUpMs: 72 * hour, now: hour };
  expect(nextTry({ ...one, result: { ...failed, status: 422 } }, 0)).toEqual({ retryAt: hour + 20 * second });
  expect(nextTry({ ...one, result: down }, 0)).toEqual({ retryAt: hour });
  const slow = { ...down, status: 503, retryAfterMs: 90 * second };
  expect(nextTry({ ...one, result: slow }, 0)).toEqual({ retryAt: hour + 90 * second });
});

it('gives a lead up when it waited too long, and never one that came only now', () => {
  const one = { result: down, tries: 9, giveUpMs: 72 * hour, now: 100 * hour };
  expect(nextTry({ ...one, since: 28 * hour }, 0)).toEqual({ dead: true });
  expect(nextTry({ ...one, since: 29 * hour }, 0)).toEqual({ retryAt: 100 * hour });
  expect(nextTry({ ...one, since: undefined }, 0)).toEqual({ retryAt: 100 * hour });
});
