import { expect, it } from 'vitest';
import {
  answering,
  isAwayForLong,
  nextTry,
  pauseMs,
  stateAfter,
  type TargetState,
  unseen,
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

/** The target after the first try of another lead. */
const after = (
  before: TargetState,
  result: TargetResult,
  steady: number,
  chance = 0,
  tries = 1,
  strikes = 0,
  isAnswering = true,
): TargetState => stateAfter(before, { result, tries, strikes, isAnswering }, steady, chance);

it('counts an outage once, however many tries met it, and forgets it when the target answers', () => {
  const first = after(answering, down, 0);
  const seen = { outages: 1, pausedUntil: 5 * second };
  expect(first).toEqual({ ...seen, fresh: seen, isSeen: false });
  expect(after(first, down, second)).toEqual(first);
  const second2 = after(first, down, 5 * second);
  expect(second2).toMatchObject({ outages: 2, pausedUntil: 15 * second });
  expect(after(second2, { ...failed, ok: true }, 15 * second)).toEqual(answering);
  expect(after(second2, { ...failed, status: 400 }, 15 * second)).toEqual(answering);
});

it('holds no new lead for one that fails again, unless the target says that it is all of it', () => {
  const again = (result: TargetResult): TargetState => after(answering, result, 0, 0, 2);
  expect(again(down)).toEqual({ ...unseen, outages: 1, pausedUntil: 5 * second });
  expect(again({ ...down, status: 429 }).fresh.outages).toBe(1);
  expect(again({ ...down, status: 503, retryAfterMs: 60 * second }).fresh.pausedUntil).toBe(60 * second);
});

it('takes what asks for time again and again, while others are answered, for a lead of its own', () => {
  const slow = { ...down, status: 503, retryAfterMs: hour };
  const held = { outages: 1, pausedUntil: hour };
  expect(after(answering, slow, 0, 0, 2, 1)).toEqual({ ...held, fresh: held, isSeen: false });
  expect(after(answering, slow, 0, 0, 3, 2)).toEqual({ ...unseen, outages: 1, pausedUntil: 5 * second });
  expect(after(answering, { ...slow, status: 429 }, 0, 0, 3, 2).fresh).toEqual(held);
});

const metByOthers: TargetState = { ...unseen, fresh: { outages: 1, pausedUntil: 0 } };

it.each([
  ['alone is struck', 2, true, unseen, 5 * second],
  ['was struck before, of a target that is away for others too', 2, false, metByOthers, hour],
  ['was struck before, and is asked when nothing is known of others', 2, false, unseen, 5 * second],
  ['has its first strike', 1, true, unseen, hour],
  ['has none', 0, false, unseen, hour],
] as const)(
  'waits as Retry-After asks unless the lead that was asked alone is struck: it %s',
  (_, strikes, isAnswering, before, ms) => {
    const slow = { ...down, status: 503, retryAfterMs: hour };
    expect(after(before, slow, 0, 0, 9, strikes, isAnswering).pausedUntil).toBe(ms);
  },
);

it('holds no new leads for one that is struck again while nothing else comes', () => {
  const slow = { ...down, status: 503, retryAfterMs: hour };
  const struck = after(answering, slow, 0, 0, 3, 2, true);
  expect(after(struck, slow, hour, 0, 4, 2, false).fresh.outages).toBe(0);
});

it('knows a target that is away for long by its pauses, after an hour at the least', () => {
  let state: TargetState = answering;
  let at = 0;
  while (!isAwayForLong(state)) {
    at = state.pausedUntil;
    state = after(state, down, at, 1);
  }
  expect(at).toBeGreaterThan(hour / 2);
  expect(state.pausedUntil - at).toBe(hour / 2);
});

it('does what Retry-After asks, up to an hour, also where it asks again', () => {
  const asked = (retryAfterMs: number): TargetResult => ({ ...down, retryAfterMs });
  const first = after(answering, asked(60 * second), 0);
  expect(first.pausedUntil).toBe(60 * second);
  expect(after(first, asked(60 * second), 30 * second)).toMatchObject({
    outages: 1,
    pausedUntil: 90 * second,
  });
  expect(after(answering, asked(5 * hour), 0).pausedUntil).toBe(hour);
});

it("puts off a lead that the target refuses, and none for an outage, which is the target's own", () => {
  const one = { tries: 3, strikes: 0, since: 0, giveUpMs: 72 * hour, now: hour };
  expect(nextTry({ ...one, result: { ...failed, status: 422 } }, 0)).toEqual({ retryAt: hour + 20 * second });
  expect(nextTry({ ...one, result: down }, 0)).toEqual({ retryAt: hour });
  expect(nextTry({ ...one, result: down, strikes: 1 }, 0)).toEqual({ retryAt: hour });
  expect(nextTry({ ...one, result: down, strikes: 3 }, 0)).toEqual({ retryAt: hour + 10 * second });
  const slow = { ...down, status: 503, retryAfterMs: 90 * second };
  expect(nextTry({ ...one, result: slow }, 0)).toEqual({ retryAt: hour + 90 * second });
  // Asked to come again soon under load, it does not wait for an hour.
  expect(nextTry({ ...one, result: slow, strikes: 14 }, 0)).toEqual({ retryAt: hour + 90 * second });
  const soon = { ...slow, retryAfterMs: second };
  expect(nextTry({ ...one, result: soon, strikes: 14 }, 0)).toEqual({ retryAt: hour + 60 * second });
});

it('gives a lead up when it waited too long, and never one that came only now', () => {
  const one = { result: down, tries: 9, strikes: 0, giveUpMs: 72 * hour, now: 100 * hour };
  expect(nextTry({ ...one, since: 28 * hour }, 0)).toEqual({ dead: true });
  expect(nextTry({ ...one, since: 29 * hour }, 0)).toEqual({ retryAt: 100 * hour });
  expect(nextTry({ ...one, since: undefined }, 0)).toEqual({ retryAt: 100 * hour });
});
