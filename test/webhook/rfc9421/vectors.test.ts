import { expect, test } from 'vitest';
import { Secret } from '../../../src/secret.ts';
import {
  componentOf,
  signatureBase,
  type SignatureInput,
} from '../../../src/webhook/rfc9421/signature-base.ts';
import { contentDigest, digestMatches } from '../../../src/webhook/rfc9421/content-digest.ts';
import { parseMessageKey, signatureMatches, signatureOf } from '../../../src/webhook/rfc9421/message-key.ts';
import { parseDictionary } from '../../../src/webhook/rfc9421/structured-fields.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { delivered, outgoing } from '../delivery.ts';

const sharedSecret =
  'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==';
const p256Public = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf
w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
-----END PUBLIC KEY-----`;
const ed25519Public = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----`;
const ed25519Private = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----`;

/** RFC 9421, appendix B.2: "test-request" and "test-response". */
const body = Buffer.from('{"hello": "world"}');
const request = {
  method: 'POST',
  path: '/foo?param=Value&Pet=dog',
  url: 'https://example.com/foo?param=Value&Pet=dog',
  rawHeaders: [
    ['Host', 'example.com'],
    ['Date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
    ['Content-Type', 'application/json'],
    [
      'Content-Digest',
      'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:',
    ],
    ['Content-Length', '18'],
  ],
} as const;
const response: Readonly<Record<string, string>> = {
  '@status': '200',
  'content-type': 'application/json',
  'content-digest':
    'sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:',
  'content-length': '23',
};

const ofRequest = (name: string) => componentOf(request, name);
const ofResponse = (name: string) => response[name];

const vectors = [
  {
    section: 'B.2.4, ecdsa-p256-sha256',
    key: p256Public,
    encoding: 'utf8',
    valueOf: ofResponse,
    input:
      'sig=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"',
    signature: 'wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==',
  },
  {
    section: 'B.2.5, hmac-sha256',
    key: sharedSecret,
    encoding: 'base64',
    valueOf: ofRequest,
    input: 'sig=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    signature: 'pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=',
  },
  {
    section: 'B.2.6, ed25519',
    key: ed25519Public,
    encoding: 'utf8',
    valueOf: ofRequest,
    input:
      'sig=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    signature: 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==',
  },
] as const;

const inputOf = (text: string): SignatureInput => parseDictionary(text)?.get('sig') as SignatureInput;

test.each(vectors)('$section: the published signature matches, a changed one does not', (vector) => {
  const key = parseMessageKey(new Secret(vector.key), vector.encoding);
  const signature = Buffer.from(vector.signature, 'base64');
  const base = signatureBase(inputOf(vector.input), vector.valueOf) ?? Buffer.alloc(0);
  expect(signatureMatches(key, base, signature)).toBe(true);
  for (const i of [0, 31, signature.length - 1]) {
    const changed = Buffer.from(signature);
    changed[i] = (changed[i] ?? 0) ^ 1;
    expect(signatureMatches(key, base, changed)).toBe(false);
  }
  expect(signatureMatches(key, base, signature.subarray(1))).toBe(false);
  expect(signatureMatches(key, base, Buffer.alloc(0))).toBe(false);
  expect(signatureMatches(key, Buffer.concat([base, Buffer.from('\n')]), signature)).toBe(false);
});

test('the published signatures B.2.5 and B.2.6 are produced to the byte', () => {
  for (const vector of vectors.slice(1)) {
    const own = vector.key === ed25519Public ? ed25519Private : vector.key;
    const base = signatureBase(inputOf(vector.input), vector.valueOf) ?? Buffer.alloc(0);
    const made = signatureOf(parseMessageKey(new Secret(own), vector.encoding), base);
    expect(made.toString('base64')).toBe(vector.signature);
  }
});

test('the derived components of section 2.2 are read from the request', () => {
  expect(ofRequest('@method')).toBe('POST');
  expect(ofRequest('@target-uri')).toBe('https://example.com/foo?param=Value&Pet=dog');
  expect(ofRequest('@scheme')).toBe('https');
  expect(ofRequest('@request-target')).toBe('/foo?param=Value&Pet=dog');
  expect(ofRequest('@path')).toBe('/foo');
  expect(ofRequest('@query')).toBe('?param=Value&Pet=dog');
  expect(componentOf({ ...request, path: '/foo' }, '@query')).toBe('?');
  expect(componentOf({ ...request, url: 'https://EXAMPLE.com:443/' }, '@authority')).toBe('example.com');
  expect(componentOf({ ...request, url: 'not a url' }, '@authority')).toBeUndefined();
  expect(ofRequest('@status')).toBeUndefined();
  expect(ofRequest('Date')).toBeUndefined();
  const twice = {
    ...request,
    rawHeaders: [
      ['X', ' a '],
      ['x', 'b'],
    ] as const,
  };
  expect(componentOf(twice, 'x')).toBe('a, b');
});

test('content-digest is computed again from the body', () => {
  const published = componentOf(request, 'content-digest') ?? '';
  expect(digestMatches(published, body)).toBe(true);
  expect(digestMatches(published, Buffer.from('{"hello": "World"}'))).toBe(false);
  expect(digestMatches(`${published}, ${contentDigest(body)}`, body)).toBe(true);
  expect(digestMatches(`${published}, ${contentDigest(Buffer.from('other'))}`, body)).toBe(false);
  expect(digestMatches(`md5=:XrY7u+Ae7tCTyyK7j1rNww==:`, body)).toBe(false);
  expect(digestMatches('sha-256="text"', body)).toBe(false);
  expect(digestMatches('', body)).toBe(false);
});

test('the published requests themselves are rejected, since their signatures do not cover the body', () => {
  for (const { input, signature, key, encoding } of vectors.slice(1)) {
    const scheme = schemeNamed('rfc9421', { secretEncoding: encoding });
    const signed = delivered(
      [...request.rawHeaders, ['signature-input', input], ['signature', `sig=:${signature}:`]],
      { ...outgoing(body), url: request.url },
    );
    const refusal = scheme.authenticate(signed, [scheme.key(new Secret(key))]);
    expect(refusal.ok ? '' : refusal.detail).toContain('does not cover');
  }
});
