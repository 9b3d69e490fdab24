import { expect, test } from 'vitest';
import { checkDelivery, nonceKey } from '../../src/webhook/check-delivery.ts';
import { delivered, outgoing, sampleBody } from '../webhook/delivery.ts';
import { cases, keyOf } from '../webhook/schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);

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
