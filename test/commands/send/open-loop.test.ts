import { expect, test } from 'vitest';
import { onRealTime, receiver, records, send } from './support.ts';

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
