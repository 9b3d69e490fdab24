import { expect, test } from 'vitest';
import type { PostResult } from '../../src/http/client/poster.ts';
import {
  type DeliveryRunOptions,
  type DeliveryRunResult,
  runDeliveries,
} from '../../src/sender/delivery-run.ts';
import type { OutgoingDelivery } from '../../src/sender/sign-request.ts';
import { createSender, fixedWaits } from '../../src/sender/sender.ts';
import { unverified } from '../../src/webhook/scheme.ts';
import { FakeClock } from '../support/clock.ts';

const delivery = (n: number): OutgoingDelivery => ({
  id: `msg_${n}`,
  leadId: String(n),
  target: 'http://localhost/',
  body: Buffer.from('{}'),
});

async function* batches(count: number, size = 3, between?: (n: number) => Promise<void>) {
  for (let from = 0; from < count; from += size) {
    await between?.(from);
    for (let n = from; n < Math.min(from + size, count); n += 1) yield await Promise.resolve(delivery(n));
  }
}

/** A receiver whose answers the test gives one by one, or which answers each request after some time of the fake clock. */
function setUp(options: Partial<DeliveryRunOptions> = {}, status = 200, answerMs?: number) {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock(0);
  const waiting: (() => void)[] = [];
  const inFlight: (() => void)[] = [];
  const sent: number[] = [];
  const latencies: number[] = [];
  const sender = createSender({
    signer: { scheme: unverified, key: undefined },
    schedule: fixedWaits([1000]),
    clock,
    poster: {
      post: () =>
        new Promise<PostResult>((resolve) => {
          const at = clock.steady();
          sent.push(at);
          const finish = (): void =>
            resolve({
              ok: true,
              status,
              headers: {},
              body: Buffer.alloc(0),
              durationMs: clock.steady() - at,
            });
          inFlight.push(finish);
          if (answerMs === undefined) waiting.push(finish);
          else void clock.sleep(answerMs).then(finish);
        }),
      close: () => inFlight.splice(0).forEach((finish) => finish()),
    },
  });
  const done = runDeliveries({
    source: batches(10),
    sender,
    concurrency: 2,
    clock,
    signal: new AbortController().signal,
    onAttempt: ({ latencyMs }) => void latencies.push(latencyMs),
    ...options,
  });
  return { clock, waiting, sent, latencies, done };
}

/** Lets everything happen that waits for no time to pass. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

async function pass(clock: FakeClock, ms: number, step = 10): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    await settle();
    clock.advance(step);
  }
  await settle();
}

test('a closed loop has as many in flight as it may, and starts the next when one ends', async () => {
  const { waiting, sent, done } = setUp();
  for (let ended = 0; ended < 10; ended += 1) {
    await settle();
    expect(sent).toHaveLength(Math.min(10, ended + 2));
    waiting.shift()?.();
  }
  expect(await done).toMatchObject({ started: 10, late: 0, failure: undefined });
});

test('in an open loop a stall of the receiver counts from the intended starts, for all that were due in it', async () => {
  const { clock, waiting, sent, latencies, done } = setUp({ intervalMs: 100 });
  await pass(clock, 1000);
  expect(sent).toEqual([0, 100]);
  while (latencies.length < 10) {
    for (const finish of waiting.splice(0)) finish();
    await settle();
  }
  expect(await done).toMatchObject({ started: 10, late: 8 });
  expect(latencies.toSorted((a, b) => b - a)).toEqual([1000, 900, 800, 700, 600, 500, 400, 300, 200, 100]);
});

test('a source that is slow delays the schedule, and is not counted as latency', async () => {
  const clock = new FakeClock(0);
  const slow = async (from: number): Promise<void> => (from === 5 ? clock.sleep(700) : undefined);
  const source = batches(10, 5, slow);
  const { sent, latencies, done } = setUp({ intervalMs: 100, clock, source }, 200, 10);
  await pass(clock, 1600);
  expect(await done).toMatchObject({ started: 10, late: 0 });
  expect(sent).toEqual([0, 100, 200, 300, 400, 1100, 1200, 1300, 1400, 1500]);
  expect(Math.max(...latencies)).toBe(10);
});

test('--for in an open loop starts as many as fit into it', async () => {
  const { clock, sent, done } = setUp({ intervalMs: 100, forMs: 500 }, 200, 10);
  await pass(clock, 1000);
  expect(await done).toMatchObject({ started: 5 });
  expect(sent).toEqual([0, 100, 200, 300, 400]);
});

test('a delivery that waits for a retry holds no slot', async () => {
  const { clock, sent, done } = setUp({ concurrency: 1, source: batches(3) }, 500, 10);
  await pass(clock, 100);
  expect(sent).toHaveLength(3);
  await pass(clock, 1500);
  expect(sent).toHaveLength(6);
  expect(await done).toMatchObject({ started: 3 });
});

test('more deliveries than may wait for a retry leave the retries their slot', async () => {
  const { clock, sent, done } = setUp({ concurrency: 1, source: batches(1100, 100) }, 500, 0.5);
  let result: DeliveryRunResult | undefined;
  void done.then((end) => (result = end));
  for (let ms = 0; ms < 4000 && result === undefined; ms += 10) await pass(clock, 10, 0.5);
  expect([result?.started, sent.length]).toEqual([1100, 2200]);
});

test('--for in a closed loop leaves the slot to the retries', async () => {
  const { clock, sent, done } = setUp({ concurrency: 1, forMs: 15 }, 500, 10);
  await pass(clock, 1500);
  expect([sent.length, (await done).started]).toEqual([4, 2]);
});

test('a source that fails ends the run once what is in flight has ended', async () => {
  async function* failing() {
    yield await Promise.resolve(delivery(1));
    yield delivery(2);
    throw new Error('cut');
  }
  const { waiting, latencies, done } = setUp({ source: failing() });
  await settle();
  for (const finish of waiting) finish();
  expect(await done).toMatchObject({ started: 2, failure: { error: new Error('cut') } });
  expect(latencies).toHaveLength(2);
});

test('aborting cuts what is in flight and reports nothing of it', async () => {
  const stop = new AbortController();
  const { latencies, done } = setUp({ signal: stop.signal });
  await settle();
  stop.abort();
  expect(await done).toMatchObject({ started: 2 });
  expect(latencies).toEqual([]);
});
