import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { contentDigest, digestMatches } from '../../../src/webhook/rfc9421/signature-base.ts';

const body = Buffer.from('{"id":1}');
const of = (hash: string, bytes = body) => createHash(hash).update(bytes).digest('base64');
const sha256 = `sha-256=:${of('sha256')}:`;
const sha512 = `sha-512=:${of('sha512')}:`;
const other = `sha-256=:${of('sha256', Buffer.from('{}'))}:`;

test('every digest of a known algorithm must be the one of the body', () => {
  expect(contentDigest(body)).toBe(sha256);
  for (const header of [sha256, sha512, `${sha256}, ${sha512}`, `md5=:AAAA:, ${sha512}`]) {
    expect(digestMatches(header, body), header).toBe(true);
  }
  for (const header of [other, `${other}, ${sha512}`, `${sha512}, ${other}`]) {
    expect(digestMatches(header, body), header).toBe(false);
  }
});

test.each([
  ['none of a known algorithm', 'md5=:AAAA:'],
  ['no dictionary', '((('],
  ['nothing', ''],
  ['a text', `sha-256="${of('sha256')}"`],
  ['a list', `sha-256=(:${of('sha256')}:)`],
  ['a number', 'sha-256=1'],
  ['a flag', 'sha-256'],
  ['a text beside the right one', `${sha512}, sha-256="x"`],
  ['a digest that is cut', `sha-256=:${of('sha256').slice(0, 40)}:`],
])('a digest that cannot be checked does not match: %s', (_, header) => {
  expect(digestMatches(header, body)).toBe(false);
});
