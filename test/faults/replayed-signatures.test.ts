import { expect, test } from 'vitest';
import { checkDelivery, nonceKey } from '../../src/webhook/check-delivery.ts';
import { verify } from '../webhook/verify.ts';
import { delivered, outgoing, sampleBody } from '../webhook/delivery.ts';
import { cases, keyOf } from '../webhook/schemes/every.ts';
import { full } from '../support/faults.ts';

const now = Date.UTC(2026, 0, 15, 12);
const timed = cases.filter((one) => one.scheme.toleranceMs !== undefined);

test('promise 5: outside of the tolerance, on either side, nothing is taken', () => {
  const count = full ? 2000 : 50;
  let [inside, outside, wrong] = [0, 0, 0];
  for (const { scheme, secret } of timed) {
    const key = keyOf(scheme, secret);
    const tolerance = scheme.toleranceMs ?? 0;
    const arrived = delivered(scheme.sign(outgoing(), key, now));
    for (let i = 0; i <= count; i += 1) {
      const within = Math.round((tolerance * i) / count);
      const beyond = tolerance + 1 + i ** 3;
      for (const sign of [1, -1]) {
        inside += 1;
        outside += 1;
        if (!verify(arrived, scheme, [key], now + sign * within).ok) wrong += 1;
        const late = verify(arrived, scheme, [key], now + sign * beyond);
        const reason = sign === 1 ? 'stale_timestamp' : 'future_timestamp';
        if (late.ok || late.reason !== reason) wrong += 1;
      }
    }
  }
  console.log(
    `promise 5: ${timed.length} forms of signing a time: ${inside} in time, ${outside} stale or future, judged wrongly ${wrong}`,
  );
  expect(wrong).toBe(0);
});

test('promise 5: a nonce is bound to its body, known only once it is authentic, and remembered in fixed length', () => {
  let bound = 0;
  for (const { scheme, secret, other } of cases) {
    const key = keyOf(scheme, secret);
    const policy = { path: undefined, scheme, keys: [key] };
    const again = (body: Buffer, signer = key) =>
      checkDelivery(delivered(scheme.sign(outgoing(body), signer, now), outgoing(body)), policy, now);
    const [first, retry] = [again(sampleBody), again(sampleBody)];
    if (first.kind !== 'leads' || retry.kind !== 'leads') throw new Error('an honest delivery was refused');
    if (first.nonce === undefined) continue;
    bound += 1;
    const mark = (found: typeof first) => nonceKey(scheme.name, found.nonce ?? '');
    expect(mark(retry)).toBe(mark(first));
    const reused = again(Buffer.from(sampleBody.toString().replace('lead_1', 'lead_2')));
    if (reused.kind !== 'leads') throw new Error('a signed delivery was refused');
    expect(mark(reused)).toBe(mark(first));
    expect(reused.delivery.body).not.toEqual(first.delivery.body);
    expect(again(sampleBody, keyOf(scheme, other))).toMatchObject({ kind: 'rejected' });
    expect(again(sampleBody, keyOf(scheme, other))).not.toHaveProperty('nonce');
  }
  const long = nonceKey('custom', 'n'.repeat(60_000));
  console.log(
    `promise 5: ${bound} forms of signing a nonce bind it to the body; remembered in ${long.length} characters`,
  );
  expect(bound).toBe(7);
  expect(long).toHaveLength(nonceKey('custom', 'n').length);
});
