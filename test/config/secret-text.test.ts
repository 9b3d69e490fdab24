import { expect, it } from 'vitest';
import { textOfSecret } from '../../src/files/read.ts';

it.each([
  ['secret', 'secret'],
  ['secret\n', 'secret'],
  ['secret\r\n', 'secret'],
  ['\ufeffsecret\n', 'secret'],
  ['secret\n\n', 'secret\n'],
  [' secret ', ' secret '],
])('takes %j for the secret %j', (text, secret) => {
  expect(textOfSecret(Buffer.from(text), 'the token')).toBe(secret);
});

it('takes a single NUL for no UTF-16', () => {
  const bytes = Buffer.from('sand\0box');
  expect(() => textOfSecret(bytes, 'the token')).toThrow('the token holds a NUL character');
});

it.each([
  ['with a mark', Buffer.from('\ufeffsecret', 'utf16le')],
  ['with a mark, big-endian', Buffer.from('\ufeffsecret', 'utf16le').swap16()],
  ['without a mark', Buffer.from('secret', 'utf16le')],
])('names UTF-16 %s', (_, bytes) => {
  expect(() => textOfSecret(bytes, 'the token')).toThrow('the token is UTF-16 text');
});
