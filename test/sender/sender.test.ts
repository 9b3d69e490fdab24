import { afterEach, expect, test } from 'vitest';
import { createPoster } from '../../src/http/client/poster.ts';
import { Secret } from '../../src/secret.ts';
import {
  type Attempt,
  createSender,
  fixedWaits,
  type RetrySchedule,
  type Sender,
} from '../../src/sender/sender.ts';
import type { OutgoingDelivery } from '../../src/sender/sign-request.ts';
import { checkDelivery } from '../../src/webhook/check-delivery.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { FakeClock } from '../support/clock.ts';
import { ScriptedReceiver } from '../support/scripted-receiver.ts';

const scheme = schemeNamed('standard-webhooks');
const key = scheme.key(new Secret('whsec_c2VjcmV0IG9mIHRoZSBzYW5kYm94IHRlc3Rz'));
const body = Buffer.from('{"id":"lead-1","n":1.0}');

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function receiver(
  ...args: ConstructorParameters<typeof ScriptedReceiver>
): Promise<{ receiver: ScriptedReceiver; delivery: OutgoingDelivery }> {
  const opened = await new ScriptedReceiver(...args).open();
  closers.push(() => opened.close());
  return { receiver: opened, delivery: { id: 'msg_1', leadId: 'lead-1', target: opened.url, body } };
}

function sender(
  clock: FakeClock,
  schedule: RetrySchedule = fixedWaits([1000, 5000]),
  timeoutMs = 5000,
): Sender {
  const poster = createPoster({ connections: 4, now: () => clock.now() });
  closers.push(() => poster.close());
  return createSender({ signer: { scheme, key }, schedule, timeoutMs, poster, clock });
}

async function collect(attempts: AsyncIterable<Attempt>): Promise<Attempt[]> {
  const collected: Attempt[] = [];
  for await (const attempt of attempts) collected.push(attempt);
  return collected;
}

test('a delivery is signed, carries the exact bytes, and ends with the attempt that is answered 200', async () => {
  const clock = new FakeClock(undefined, { hasty: true });
  const { receiver: target, delivery } = await receiver((_, count) => (count === 1 ? 503 : 200));
  const attempts = await collect(sender(clock).deliver(delivery));
  expect(attempts.map(({ number, outcome, retryInMs }) => [number, outcome, retryInMs])).toEqual([
    [1, 'refused', 1000],
    [2, 'acknowledged', undefined],
  ]);
  expect(clock.sleeps).toEqual([1000]);
  for (const { method, path, rawHeaders, body: received } of target.received) {
    const seen = { method, path, url: path, rawHeaders, body: received, remote: '', receivedAt: clock.now() };
    const checked = checkDelivery(seen, { path: undefined, scheme, keys: [key] }, clock.now());
    expect([checked.kind === 'rejected', received.equals(body)]).toEqual([false, true]);
  }
  expect(target.received.map(({ headers }) => headers['webhook-id'])).toEqual(['msg_1', 'msg_1']);
});

test('only 200 acknowledges, and after the last wait the delivery is given up', async () => {
  const clock = new FakeClock(undefined, { hasty: true });
  const answers = [204, 302, undefined];
  const { delivery } = await receiver((_, count) => answers[count - 1]);
  const attempts = await collect(sender(clock).deliver(delivery));
  expect(attempts.map(({ outcome, result }) => [outcome, result.ok ? result.status : result.code])).toEqual([
    ['refused', 204],
    ['refused', 302],
    ['unanswered', 'ECONNRESET'],
  ]);
  expect(clock.sleeps).toEqual([1000, 5000]);
});

test('a schedule sees the answer, so that it can follow Retry-After', async () => {
  const clock = new FakeClock(undefined, { hasty: true });
  const { delivery } = await receiver((_, count) => (count < 3 ? 429 : 200));
  const schedule: RetrySchedule = (number, result) =>
    result.ok && result.status === 429 ? number * 7000 : undefined;
  expect(await collect(sender(clock, schedule).deliver(delivery))).toHaveLength(3);
  expect(clock.sleeps).toEqual([7000, 14_000]);
});

test('aborting while it waits ends the delivery without a further attempt', async () => {
  const clock = new FakeClock();
  const { receiver: target, delivery } = await receiver(() => 500);
  const stop = new AbortController();
  const attempts = collect(sender(clock).deliver(delivery, { signal: stop.signal }));
  await expect.poll(() => clock.sleeps).toEqual([1000]);
  stop.abort();
  expect(await attempts).toHaveLength(1);
  expect(target.received).toHaveLength(1);
});

test('an aborted attempt is not reported', async () => {
  const { receiver: target, delivery } = await receiver(() => {
    stop.abort();
    return 200;
  });
  const stop = new AbortController();
  expect(await collect(sender(new FakeClock()).deliver(delivery, { signal: stop.signal }))).toEqual([]);
  expect(target.received).toHaveLength(1);
});

test('each attempt waits for its slot, and gives it back once the caller has dealt with the attempt', async () => {
  const events: string[] = [];
  const clock = new FakeClock(undefined, { hasty: true });
  const { delivery } = await receiver((_, count) => {
    events.push(`request ${count}`);
    return count === 2 ? 200 : 500;
  });
  const attempts = sender(clock).deliver(delivery, {
    acquire: (number) => {
      events.push(`acquire ${number}`);
      return Promise.resolve(() => events.push(`release ${number}`));
    },
  });
  for await (const { number } of attempts) events.push(`handled ${number}`);
  expect(events).toEqual([
    ...['acquire 1', 'request 1', 'handled 1', 'release 1'],
    ...['acquire 2', 'request 2', 'handled 2', 'release 2'],
  ]);
});

test('a caller that stops reading gives its slot back', async () => {
  let released = 0;
  const { delivery } = await receiver(() => 500);
  const acquire = () => Promise.resolve(() => void (released += 1));
  for await (const _ of sender(new FakeClock()).deliver(delivery, { acquire })) break;
  expect(released).toBe(1);
});

test('an attempt that the caller lets forge is rejected by the check of the receiver, and the next one passes', async () => {
  const clock = new FakeClock(undefined, { hasty: true });
  const { delivery } = await receiver(({ method, path, rawHeaders, body: received }) => {
    const seen = { method, path, url: path, rawHeaders, body: received, remote: '', receivedAt: clock.now() };
    const checked = checkDelivery(seen, { path: undefined, scheme, keys: [key] }, clock.now());
    return checked.kind === 'rejected' ? checked.status : 200;
  });
  const attempts = await collect(
    sender(clock).deliver(delivery, {
      forge: (number) => (number === 1 ? { kind: 'badSignature' } : undefined),
    }),
  );
  expect(attempts.map(({ forgery, outcome }) => [forgery?.kind, outcome])).toEqual([
    ['badSignature', 'refused'],
    [undefined, 'acknowledged'],
  ]);
});
