import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret, withoutSecrets } from '../src/secret.ts';

test('a secret shows its last four characters at most, however it is printed', () => {
  const secret = new Secret('key-0123456789');
  expect([String(secret), JSON.stringify({ secret }), inspect(secret)]).toEqual([
    '…6789',
    '{"secret":"…6789"}',
    '…6789',
  ]);
  expect(String(new Secret('123456789'))).toBe('…');
});

test('every secret is replaced in a text, plain and percent-encoded', () => {
  const secrets = [new Secret('a b/c'), new Secret('second'), new Secret('')];
  expect(withoutSecrets('?x=a b/c&y=a%20b%2Fc&z=second', secrets, '[$&]')).toBe('?x=[$&]&y=[$&]&z=[$&]');
});
