import { expect, it } from 'vitest';
import { pauseMs, retryInMs, TargetHealth } from '../../src/receiver/target-health.ts';
import type { TargetResult } from '../../src/receiver/targets/target.ts';

const second = 1000;
const hour = 3_600_000;
const failed = { to: 'forward', ok: false, answer: '500', durationMs: 1 } as const;
const down: TargetResult = { ...failed, isDown: true };
const busy = { ...down, status: 503 };

it('waits from seconds to an hour, and never as long as others', () => {
  const pauses = Array.from({ length: 14 }, (_, i) => pauseMs(i + 1, 0));
  expect(pauses.slice(0, 4)).toEqual([5 * second, 10 * second, 20 * second, 40 * second]);
  expect(pauses.at(-1)).toBe(hour);
  expect(pauseMs(10_000, 0)).toBe(hour);
  expect([pauseMs(1, 1), pauseMs(14, 0.5)]).toEqual([2.5 * second, 0.75 * hour]);
});

it('tries a lead again after its own pause, and not before Retry-After, which holds for an hour at most', () => {
  expect(retryInMs({ ...failed, status: 422 }, 3, 0)).toBe(20 * second);
  expect(retryInMs({ ...busy, retryAfterMs: 90 * second }, 1, 0)).toBe(90 * second);
  expect(retryInMs({ ...busy, retryAfterMs: second }, 4, 0)).toBe(40 * second);
  expect(retryInMs({ ...busy, retryAfterMs: 9 * hour }, 1, 0)).toBe(hour);
});

/** A target that takes no lead, told of the first attempts of these at the time that it gives. */
function afterFailures(health: TargetHealth, leadIds: readonly string[], now = 0, result = down): number {
  for (const leadId of leadIds) health.record(leadId, result, now, 0);
  return health.pausedMs(now);
}

it('is down once two leads have failed, and not for one that fails again and again', () => {
  const health = new TargetHealth();
  expect(afterFailures(health, ['a', 'a', 'a'])).toBe(0);
  expect(health.isDown).toBe(false);
  expect(afterFailures(health, ['b'])).toBe(5 * second);
  expect(health.isDown).toBe(true);
});

it('that took a lead before is down once eight others in a row got a 500, or two got no answer', () => {
  const broken = { ...down, status: 500 };
  const health = new TargetHealth();
  health.record('taken', { ...failed, ok: true }, 0, 0);
  expect(afterFailures(health, ['a', 'b', 'c', 'd', 'e', 'f', 'g'], 0, broken)).toBe(0);
  expect(afterFailures(health, ['h'], 0, broken)).toBe(5 * second);
  health.record('taken', { ...failed, ok: true }, 5 * second, 0);
  expect(afterFailures(health, ['a', 'b'], 5 * second)).toBe(5 * second);
});

it('is down at once where it answers 429, as long as it asks for', () => {
  const health = new TargetHealth();
  expect(afterFailures(health, ['a'], 0, { ...down, status: 429, retryAfterMs: 60 * second })).toBe(
    60 * second,
  );
});

it.each([
  ['took', { ...failed, ok: true }],
  ['refused', { ...failed, status: 422 }],
] as const)('is back once it %s a lead', (_, result) => {
  const health = new TargetHealth();
  afterFailures(health, ['a', 'b']);
  health.record('c', result, second, 0);
  expect([health.isDown, health.pausedMs(second)]).toEqual([false, 0]);
  expect(afterFailures(health, ['d'], second)).toBe(0);
});

it('counts an outage once, however many attempts met it, and pauses longer after each that follows', () => {
  const health = new TargetHealth();
  afterFailures(health, ['a', 'b', 'c', 'd']);
  expect(health.pausedMs(0)).toBe(5 * second);
  expect(afterFailures(health, ['e'], 5 * second)).toBe(10 * second);
  expect(afterFailures(health, ['f'], 15 * second)).toBe(20 * second);
});

it('pauses as long as the last attempt of an outage asks for', () => {
  const health = new TargetHealth();
  afterFailures(health, ['a', 'b']);
  expect(afterFailures(health, ['c'], second, { ...busy, retryAfterMs: 60 * second })).toBe(60 * second);
});

it('is left alone for a minute at most, however long it is down', () => {
  const health = new TargetHealth();
  afterFailures(health, ['a', 'b']);
  let now = 0;
  for (let i = 0; i < 100; i += 1) {
    now += health.pausedMs(now);
    afterFailures(health, [`l${i}`], now);
  }
  expect(health.pausedMs(now)).toBe(60 * second);
});
