import { expect, test } from 'vitest';
import { Secret } from '../../../src/secret.ts';
import { unverified } from '../../../src/webhook/scheme.ts';
import { delivered, outgoing } from '../delivery.ts';

test('without verification every delivery is taken, no key matches, and nothing is signed', () => {
  expect(unverified).toMatchObject({ name: 'none', credentialHeaders: [], signsUrl: false });
  expect(unverified.authenticate(delivered([]), [])).toEqual({ ok: true, key: -1 });
  const key = unverified.key(new Secret('s'));
  expect(key.material.export()).toEqual(Buffer.from('s'));
  expect(unverified.sign(outgoing(), key, 0)).toEqual([]);
});
