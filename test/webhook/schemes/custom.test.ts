import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { messageAndHint } from '../../support/described.ts';
import { ConfigError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secret.ts';
import type { SchemeOptions } from '../../../src/webhook/scheme-options.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, type Headers, sampleBody } from '../delivery.ts';

const now = Date.UTC(2026, 0, 15, 12);
const signature = { signatureHeader: 'X-Sig' };
const text = sampleBody.toString();

const take = (options: SchemeOptions, headers: Headers, secret = 's3cret') => {
  const scheme = schemeNamed('custom', { ...signature, ...options });
  return verify(delivered(headers), scheme, [scheme.key(new Secret(secret))], now);
};
const mac = (content: string, key: string | Buffer = 's3cret', hash = 'sha256') =>
  createHmac(hash, key).update(content);

test.each([
  ['hmac-sha1', 'sha1'],
  ['hmac-sha256', 'sha256'],
  ['hmac-sha512', 'sha512'],
] as const)('%s is verified in hex, base64 and base64url', (algorithm, hash) => {
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    const value = mac(text, 's3cret', hash).digest(encoding);
    expect(take({ algorithm, encoding }, [['x-sig', value]])).toMatchObject({ ok: true });
    expect(take({ algorithm, encoding, prefix: 'v=' }, [['x-sig', `v=${value}`]])).toMatchObject({
      ok: true,
    });
    expect(take({ algorithm, encoding, prefix: 'v=' }, [['x-sig', value]])).toMatchObject({ ok: false });
    for (const other of ['hmac-sha1', 'hmac-sha256', 'hmac-sha512'] as const) {
      if (other !== algorithm)
        expect(take({ algorithm: other, encoding }, [['x-sig', value]]).ok).toBe(false);
    }
  }
});

test.each([
  ['utf8', 'clé', Buffer.from('clé')],
  ['hex', 'DEADbeef', Buffer.from('deadbeef', 'hex')],
  ['base64', 'AQID/+8', Buffer.from('AQID/+8=', 'base64')],
  ['whsec', 'whsec_AQIDBA==', Buffer.from('AQIDBA==', 'base64')],
] as const)('a secret in %s is decoded', (secretEncoding, secret, key) => {
  expect(take({ secretEncoding }, [['x-sig', mac(text, key).digest('hex')]], secret)).toMatchObject({
    ok: true,
  });
});

test.each([
  ['hex', 'abc'],
  ['hex', 'zz'],
  ['base64', 'a'],
  ['base64', 'ab cd'],
  ['whsec', 'whpk_AQIDBA=='],
  ['whsec', 'AQIDwhsec_AQID'],
  ['base64', 'whsec_AQIDBA=='],
  ['base64', 'AA='],
  ['utf8', ''],
  ['hex', ''],
  ['base64', ''],
  ['whsec', 'whsec_'],
  ['utf8', ' \n'],
] as const)('a secret in a wrong form is a configuration error: %s %j', (secretEncoding, secret) => {
  const scheme = schemeNamed('custom', { ...signature, secretEncoding });
  expect(() => scheme.key(new Secret(secret))).toThrow(ConfigError);
});

test('what is missing is named: the time, the nonce, and where the time was looked for', () => {
  const options = {
    timestampHeader: 'x-time',
    nonceHeader: 'x-nonce',
    signedContent: '{timestamp}{nonce}{body}',
  };
  const stamp = String(now / 1000);
  const sig = ['x-sig', mac(`${stamp}n${text}`).digest('hex')] as const;
  const [time, nonce] = [['x-time', stamp] as const, ['x-nonce', 'n'] as const];
  expect(take(options, [sig, time, nonce])).toMatchObject({ ok: true, nonce: 'n', timestamp: now });
  expect(take(options, [sig, nonce])).toMatchObject({ reason: 'missing_timestamp' });
  expect(take(options, [sig, time])).toMatchObject({ reason: 'missing_nonce' });
  expect(take(options, [sig, nonce, ['x-time', 'soon']])).toMatchObject({
    reason: 'malformed_timestamp',
    detail: "the header x-time is not a time in the form 'unix'",
  });
  const inside = { timestampPrefix: 't=', prefix: 'v=' };
  const value = `v=${mac(text).digest('hex')}`;
  expect(take(inside, [['x-sig', value]])).toMatchObject({ detail: 'the header x-sig has no t=' });
  expect(take(inside, [['x-sig', `t=soon,${value}`]])).toMatchObject({
    detail: "t= in the header x-sig is not a time in the form 'unix'",
  });
  expect(
    messageAndHint(() => schemeNamed('custom', { ...signature, signedContent: '{timestamp}{body}' })),
  ).toContain('{timestamp}');
  expect(
    messageAndHint(() => schemeNamed('custom', { ...signature, signedContent: '{nonce}{body}' })),
  ).toContain('{nonce}');
});

test('a scheme signs the URL where its content holds a part of it', () => {
  const signsUrl = (signedContent: string) => schemeNamed('custom', { ...signature, signedContent }).signsUrl;
  for (const part of ['{url}', '{decodedUrl}', '{path}']) expect(signsUrl(`${part}{body}`), part).toBe(true);
  expect(signsUrl('{method}{body}')).toBe(false);
  expect(schemeNamed('token').signsUrl).toBe(false);
});

test('only a scheme with Ed25519 keys takes whpk_ for one, and no scheme signs with a key of another', () => {
  const scheme = schemeNamed('custom', signature);
  expect(scheme.key(new Secret('whpk_as text')).material.type).toBe('secret');
  const ed25519 = schemeNamed('custom', { ...signature, algorithm: 'ed25519' });
  const seed = Buffer.alloc(32, 1).toString('base64');
  const key = ed25519.key(new Secret(`whsk_${seed}`));
  const message = { method: 'POST', url: 'https://a.example/', body: sampleBody, id: '1' };
  expect(ed25519.sign(message, key, now)).toHaveLength(1);
  expect(() => scheme.sign(message, key, now)).toThrow(ConfigError);
});

test('a line break in the signed content is written \\n', () => {
  const headers = [
    ['x-time', String(now / 1000)],
    ['x-sig', mac(`${now / 1000}\n${text}`).digest('hex')],
  ] as const;
  const options = { timestampHeader: 'x-time', signedContent: String.raw`{timestamp}\n{body}` };
  expect(take(options, headers)).toMatchObject({ ok: true });
});

test.each<[string, SchemeOptions]>([
  ['no header', { signatureHeader: undefined }],
  ['no header name', { signatureHeader: 'x sig' }],
  ['a header that no client sends as it is told', { signatureHeader: 'Expect' }],
  ['one header for two things', { signatureHeader: 'X-Sig', timestampHeader: 'x-sig' }],
  ['a body that is not signed', { signedContent: '{timestamp}', timestampHeader: 'x-time' }],
  ['an unknown part', { signedContent: '{body}{host}' }],
  ['a brace left open', { signedContent: '{body}{' }],
  ['a time without its header', { signedContent: '{timestamp}.{body}' }],
  ['a nonce without its header', { signedContent: '{nonce}.{body}' }],
  ['a time that is not signed', { signedContent: '{body}', timestampHeader: 'x-time' }],
  [
    'a time beside the signature that is not signed',
    { timestampPrefix: 't=', prefix: 'v1=', signedContent: '{body}' },
  ],
  ['a nonce that is not signed', { nonceHeader: 'x-nonce' }],
  ['a nonce under the name of an id', { signedContent: '{id}{body}' }],
  ['time and nonce in one header', { nonceHeader: 'X-N', timestampHeader: 'x-n' }],
  ['two sources of the time', { timestampHeader: 'x-time', timestampPrefix: 't=', prefix: 'v=' }],
  ['no prefix beside the time', { timestampPrefix: 't=' }],
  ['a prefix that is the start of another', { timestampPrefix: 't=', prefix: 't=v' }],
  ['a prefix that starts with another', { timestampPrefix: 'v1=', prefix: 'v' }],
])('options that would check less than they seem to are an error: %s', (_, options) => {
  expect(() => schemeNamed('custom', { ...signature, ...options })).toThrow(ConfigError);
});
