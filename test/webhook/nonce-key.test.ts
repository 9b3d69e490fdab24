import { expect, test } from 'vitest';
import { nonceKey } from '../../src/webhook/nonce-key.ts';

test('a nonce is remembered under a short name of its own, apart for each scheme', () => {
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
