import { expect, test } from 'vitest';
import { Secret } from '../../../src/secret.ts';
import { signatureOf, verifier } from '../../../src/webhook/crypto/signature.ts';
import {
  componentOf,
  contentDigest,
  digestMatches,
  type Message,
  signatureBase,
  type SignatureInput,
} from '../../../src/webhook/rfc9421/signature-base.ts';
import { parseMessageKey } from '../../../src/webhook/rfc9421/authenticate-message.ts';
import { type Item, parseDictionary, parseList } from '../../../src/webhook/rfc9421/structured-fields.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { delivered, outgoing } from '../delivery.ts';

const sharedSecret =
  'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==';
const rsaPublic = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAr4tmm3r20Wd/PbqvP1s2
+QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct+Lh1GH45x28Rw3Ry53mm+
oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHq
gDsznjPFmTOtCEcN2Z1FpWgchwuYLPL+Wokqltd11nqqzi+bJ9cvSKADYdUAAN5W
Utzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4
aOT9v6d+nb4bnNkQVklLQ3fVAvJm+xdDOp9LCNCN48V2pnDOkFV6+U9nV5oyc6XI
2wIDAQAB
-----END PUBLIC KEY-----`;
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

const item = (text: string): Item => parseList(text)?.[0] as Item;
const component = (message: Message, name: string, params = '') =>
  componentOf(message, item(`"${name}"${params}`));
const ofRequest = (name: string, params = '') => component(request, name, params);
const inRequest = (one: Item) => componentOf(request, one);
const inResponse = ({ bare }: Item) => response[String(bare.value)];

const vectors = [
  {
    section: 'B.2.1, rsa-pss-sha512',
    key: rsaPublic,
    encoding: 'utf8',
    valueOf: inRequest,
    input: 'sig=();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"',
    signature:
      'd2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==',
  },
  {
    section: 'B.2.2, rsa-pss-sha512 with a parameter of the query',
    key: rsaPublic,
    encoding: 'utf8',
    valueOf: inRequest,
    input:
      'sig=("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example"',
    signature:
      'LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==',
  },
  {
    section: 'B.2.3, rsa-pss-sha512 over the whole request',
    key: rsaPublic,
    encoding: 'utf8',
    valueOf: inRequest,
    input:
      'sig=("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"',
    signature:
      'bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==',
  },
  {
    section: 'B.2.4, ecdsa-p256-sha256',
    key: p256Public,
    encoding: 'utf8',
    valueOf: inResponse,
    input:
      'sig=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"',
    signature: 'wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==',
  },
  {
    section: 'B.2.5, hmac-sha256',
    key: sharedSecret,
    encoding: 'base64',
    valueOf: inRequest,
    input: 'sig=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    signature: 'pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=',
  },
  {
    section: 'B.2.6, ed25519',
    key: ed25519Public,
    encoding: 'utf8',
    valueOf: inRequest,
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
  const matches = (content: Buffer, bytes: Buffer) =>
    key.algorithms.map((algorithm) => verifier(algorithm, key, [content])(bytes)).includes(true);
  expect(matches(base, signature)).toBe(true);
  for (const i of [0, 31, signature.length - 1]) {
    const changed = Buffer.from(signature);
    changed[i] = (changed[i] ?? 0) ^ 1;
    expect(matches(base, changed)).toBe(false);
  }
  expect(matches(base, signature.subarray(1))).toBe(false);
  expect(matches(base, Buffer.alloc(0))).toBe(false);
  expect(matches(Buffer.concat([base, Buffer.from('\n')]), signature)).toBe(false);
});

test('the published signatures B.2.5 and B.2.6 are produced to the byte', () => {
  for (const vector of vectors.filter(({ section }) => /B.2.[56]/.test(section))) {
    const own = vector.key === ed25519Public ? ed25519Private : vector.key;
    const base = signatureBase(inputOf(vector.input), vector.valueOf) ?? Buffer.alloc(0);
    const key = parseMessageKey(new Secret(own), vector.encoding);
    const made = signatureOf(key.algorithms[0] ?? 'ed25519', key, [base]);
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
  expect(component({ ...request, path: '/foo' }, '@query')).toBe('?');
  expect(component({ ...request, url: 'https://EXAMPLE.com:443/' }, '@authority')).toBe('example.com');
  expect(component({ ...request, url: 'not a url' }, '@authority')).toBeUndefined();
  expect(ofRequest('@status')).toBeUndefined();
  expect(ofRequest('Date')).toBeUndefined();
  const twice = {
    ...request,
    rawHeaders: [
      ['X', ' a '],
      ['x', 'b'],
    ] as const,
  };
  expect(component(twice, 'x')).toBe('a, b');
});

test('content-digest is computed again from the body', () => {
  const published = ofRequest('content-digest') ?? '';
  expect(digestMatches(published, body)).toBe(true);
  expect(digestMatches(published, Buffer.from('{"hello": "World"}'))).toBe(false);
  expect(digestMatches(`${published}, ${contentDigest(body)}`, body)).toBe(true);
  expect(digestMatches(`${published}, ${contentDigest(Buffer.from('other'))}`, body)).toBe(false);
  expect(digestMatches(`md5=:XrY7u+Ae7tCTyyK7j1rNww==:`, body)).toBe(false);
  expect(digestMatches('sha-256="text"', body)).toBe(false);
  expect(digestMatches('', body)).toBe(false);
});

test('the published requests themselves are rejected, since their signatures do not cover the body', () => {
  for (const { input, signature, key, encoding } of vectors.filter(({ section }) =>
    /B.2.[1256]/.test(section),
  )) {
    const scheme = schemeNamed('rfc9421', { secretEncoding: encoding });
    const signed = delivered(
      [...request.rawHeaders, ['signature-input', input], ['signature', `sig=:${signature}:`]],
      { ...outgoing(body), url: request.url },
    );
    const refusal = scheme.authenticate(signed, [scheme.key(new Secret(key))]);
    expect(refusal.ok ? '' : refusal.detail).toContain('does not cover');
  }
});
