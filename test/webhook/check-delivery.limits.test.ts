import { expect, test } from 'vitest';
import { checkDelivery } from '../../src/webhook/check-delivery.ts';
import { unverified } from '../../src/webhook/scheme.ts';
import { delivered, outgoing } from './delivery.ts';

const check = (body: Uint8Array | string) =>
  checkDelivery(
    delivered([], outgoing(Buffer.from(body))),
    { path: undefined, scheme: unverified, keys: [] },
    0,
  );

test('an id has at most 512 bytes', () => {
  for (const id of ['x'.repeat(512), 'é'.repeat(256)]) {
    expect(check(`{"id":"${id}"}`)).toMatchObject({ key: -1 });
    expect(check(`{"id":"${id}x"}`)).toMatchObject({ reason: 'not_a_lead' });
  }
});

test('what is no UTF-8 is no JSON', () => {
  expect(check(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]))).toMatchObject({ reason: 'not_json' });
  expect(check('["\\u00ff"]')).toMatchObject({ reason: 'not_a_lead' });
});
