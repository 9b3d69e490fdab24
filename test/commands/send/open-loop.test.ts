import { expect, test } from 'vitest';
import { onRealTime, receiver, records, send } from './support.ts';

/** The scale of 2 s in 10 s at 50/s is a fifth: 400 ms in 2 s. */
const stallMs = 400;

test('a receiver that stalls shows it in the percentiles and in `late`, although it answers quickly otherwise', async () => {
  let stalledUntil = 0;
  const { url } = await receiver((_, response, nth) => {
    if (nth === 20) stalledUntil = performance.now() + stallMs;
    setTimeout(() => response.end(), Math.max(0, stalledUntil - performance.now()));
  });
  const argv = ['--rate', '50/s', '--for', '2s', '--concurrency', '2', '--json'];
  const run = await send(url, argv, onRealTime);
  const { summary } = records(run);
  expect(summary).toMatchObject({ openLoop: true, deliveries: 100, acknowledged: 100, failed: 0 });
  // 20 starts fall into the stall, and two of them got the slots.
  expect(summary.late).toBeGreaterThanOrEqual(15);
  expect(summary.latencyMs.p99).toBeGreaterThan(stallMs * 0.8);
  expect(summary.latencyMs.p90).toBeGreaterThan(stallMs * 0.3);
});

test('deliveries start at the pace that was asked for, however slowly they are answered', async () => {
  const { url, received } = await receiver((_, response) => void setTimeout(() => response.end(), 500));
  const run = await send(url, ['--rate', '100/s', '--for', '1s', '--json'], onRealTime);
  const { summary } = records(run);
  expect(summary).toMatchObject({ deliveries: 100, acknowledged: 100, late: 0 });
  expect(summary.achievedRate).toBeGreaterThan(95);
  expect((received.at(-1)?.at ?? 0) - (received[0]?.at ?? 0)).toBeLessThan(1500);
});

test.each([
  ['--sample', ['--sample', '3']],
  ['--repeat', ['--repeat', '3']],
  ['--count', ['--count', '3']],
])('a rate ends with the leads of %s', async (_, argv) => {
  const { url } = await receiver();
  const run = await send(url, ['--rate', '500/s', ...argv, '--json'], onRealTime);
  expect(records(run).summary).toMatchObject({ openLoop: true, deliveries: 3, acknowledged: 3 });
});

test('--for without a rate sends as quickly as answers come, until the time is over', async () => {
  const { url, received } = await receiver();
  const run = await send(url, ['--for', '300ms', '--json'], onRealTime);
  const { summary } = records(run);
  expect(summary).toMatchObject({ openLoop: false, failed: 0, deliveries: received.length });
  expect(received.length).toBeGreaterThan(10);
});

test('the summary for a person says which loop it was', async () => {
  const { url } = await receiver();
  expect((await send(url, ['--sample', '2'])).stdout).toContain('closed loop');
  const open = await send(url, ['--rate', '500/s', '--count', '3'], onRealTime);
  expect(open.stdout).toMatch(/open loop\n[\s\S]*from the intended start\nlate {5}0 waited/);
});
