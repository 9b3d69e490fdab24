import { expect, test } from 'vitest';
import { nonceKey } from '../../src/webhook/check-delivery.ts';

test('the key of a nonce is short, and different for each nonce and each scheme', () => {
  const names = [
    nonceKey('svix', 'a'),
    nonceKey('standard-webhooks', 'a'),
    nonceKey('svix', 'b'),
    nonceKey('svix', 'x'.repeat(100_000)),
    nonceKey('svix', ''),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(names.map((name) => name.length))).toEqual(new Set([43]));
  expect(nonceKey('svix', 'a')).toBe(names[0]);
});
