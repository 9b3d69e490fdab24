import { afterEach, expect, test } from 'vitest';
import { createPoster } from '../../src/http/client/poster.ts';
import type { Forgery, OutgoingDelivery } from '../../src/sender/sign-request.ts';
import { Secret } from '../../src/secret.ts';
import { type Attempt, createSender, fixedWaits, type Sender } from '../../src/sender/sender.ts';
import { checkDelivery } from '../../src/webhook/check-delivery.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { FakeClock } from '../support/clock.ts';
import { scriptedReceiver, type ScriptedReceiver } from '../support/scripted-service.ts';

const scheme = schemeNamed('standard-webhooks');
const key = scheme.key(new Secret('whsec_c2VjcmV0IG9mIHRoZSBzYW5kYm94IHRlc3Rz'));
const body = Buffer.from('{"id":"lead-1","n":1.0}');

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function receiver(
  ...args: Parameters<typeof scriptedReceiver>
): Promise<{ receiver: ScriptedReceiver; delivery: OutgoingDelivery }> {
  const opened = await scriptedReceiver(...args);
  closers.push(() => opened.close());
  return { receiver: opened, delivery: { id: 'msg_1', leadId: 'lead-1', target: opened.url, body } };
}

function sender(clock: FakeClock): Sender {
  const poster = createPoster({ connections: 4, timeoutMs: 5000 });
  closers.push(() => poster.close());
  const schedule = fixedWaits([1000, 5000]);
  return createSender({ signer: { scheme, key }, schedule, poster, clock });
}

/** Attempts by the schedule, as far as it goes; the first one is forged where that is said. */
async function attemptsOf(to: Sender, delivery: OutgoingDelivery, forgery?: Forgery): Promise<Attempt[]> {
  const made: Attempt[] = [];
  for (let number = 1; ; number += 1) {
    const one = await to.attempt(delivery, number, number === 1 ? forgery : undefined);
    made.push(one);
    if (one.retryInMs === undefined) return made;
  }
}

test('a delivery is signed, carries the exact bytes, and ends with the attempt that is answered 200', async () => {
  const clock = new FakeClock(undefined, { hasty: true });
  const { receiver: target, delivery } = await receiver((_, count) => (count === 1 ? 503 : 200));
  const attempts = await attemptsOf(sender(clock), delivery);
  expect(attempts.map(({ number, outcome, retryInMs }) => [number, outcome, retryInMs])).toEqual([
    [1, 'refused', 1000],
    [2, 'acknowledged', undefined],
  ]);
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
  const attempts = await attemptsOf(sender(clock), delivery);
  expect(attempts.map(({ outcome, result }) => [outcome, result.ok ? result.status : result.code])).toEqual([
    ['refused', 204],
    ['refused', 302],
    ['unanswered', 'ECONNRESET'],
  ]);
  expect(attempts.map(({ retryInMs }) => retryInMs)).toEqual([1000, 5000, undefined]);
});

test('an attempt that is forged is rejected by the check of the receiver, and the next one passes', async () => {
  const clock = new FakeClock(undefined, { hasty: true });
  const { delivery } = await receiver(({ method, path, rawHeaders, body: received }) => {
    const seen = { method, path, url: path, rawHeaders, body: received, remote: '', receivedAt: clock.now() };
    const checked = checkDelivery(seen, { path: undefined, scheme, keys: [key] }, clock.now());
    return checked.kind === 'rejected' ? checked.status : 200;
  });
  const attempts = await attemptsOf(sender(clock), delivery, { kind: 'badSignature' });
  expect(attempts.map(({ forgery, outcome }) => [forgery?.kind, outcome])).toEqual([
    ['badSignature', 'refused'],
    [undefined, 'acknowledged'],
  ]);
});
