import { createHmac, generateKeyPairSync } from 'node:crypto';
import { createSigner, httpbis } from 'http-message-signatures';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secret.ts';
import { contentDigest } from '../../../src/webhook/rfc9421/signature-base.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, outgoing, sampleBody } from '../delivery.ts';
import { keyOf } from '../schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);
const secret = 'a shared secret of thirty-two by';
const digest = contentDigest(sampleBody);

/** A delivery signed over these components, computed here. */
function signed(components: string, values: readonly string[], label = 'sig') {
  const params = `(${components});created=${now / 1000}`;
  const names = components.match(/"[^"]*"(?:;\w+(?:="[^"]*")?)?/g) ?? [];
  const lines = names.map((name, i) => `${name}: ${values[i] ?? ''}`);
  const base = [...lines, `"@signature-params": ${params}`].join('\n');
  return {
    input: `${label}=${params}`,
    signature: `${label}=:${createHmac('sha256', secret).update(base).digest('base64')}:`,
  };
}

const arrived = (input: string, signature: string) =>
  delivered([
    ['content-digest', digest],
    ['date', 'Thu, 15 Jan 2026 12:00:00 GMT'],
    ['signature-input', input],
    ['signature', signature],
  ]);

const take = (one: { input: string; signature: string }, require?: readonly string[]) => {
  const scheme = schemeNamed('rfc9421', { require });
  return verify(arrived(one.input, one.signature), scheme, [keyOf(scheme, secret)], now);
};

const onlyDigest = signed('"content-digest"', [digest]);
const withMethod = signed('"@method" "content-digest"', ['POST', digest]);
const withDate = signed('"content-digest" "date"', [digest, 'Thu, 15 Jan 2026 12:00:00 GMT']);
const full = signed('"@method" "@target-uri" "content-digest"', ['POST', outgoing().url, digest]);

test('what a signature must cover can be set, and is strict otherwise', () => {
  expect(take(full)).toMatchObject({ ok: true });
  for (const one of [onlyDigest, withMethod, withDate]) {
    expect(take(one)).toMatchObject({ reason: 'malformed_credential' });
    expect(take(one, ['digest'])).toMatchObject({ ok: true });
  }
  expect(take(withMethod, ['digest', 'method'])).toMatchObject({ ok: true });
  expect(take(onlyDigest, ['digest', 'method'])).toMatchObject({
    detail: 'the signature does not cover @method',
  });
  expect(take(withMethod, ['digest', 'target'])).toMatchObject({
    detail: 'the signature does not cover @target-uri',
  });
  expect(take(withDate, ['digest', 'Date'])).toMatchObject({ ok: true });
  expect(take(full, ['digest', 'date', '@scheme'])).toMatchObject({
    detail: 'the signature does not cover date and @scheme',
  });
});

test('a coverage without the digest, or with what is no component, is a configuration error', () => {
  for (const require of [[], ['method', 'target'], ['digest', 'a b'], ['digest', '']]) {
    expect(() => schemeNamed('rfc9421', { require }), require.join()).toThrow(ConfigError);
  }
});

test('a header is covered in each of its forms, and the body is checked in all of them', () => {
  const bytes = `:${Buffer.from(digest).toString('base64')}:`;
  for (const one of [
    signed('"@method" "@target-uri" "content-digest";sf', ['POST', outgoing().url, digest]),
    signed('"@method" "@target-uri" "content-digest";bs', ['POST', outgoing().url, bytes]),
  ]) {
    expect(take(one)).toMatchObject({ ok: true });
    const scheme = schemeNamed('rfc9421');
    const altered = { ...arrived(one.input, one.signature), body: Buffer.from('{}') };
    expect(verify(altered, scheme, [keyOf(scheme, secret)], now)).toMatchObject({
      reason: 'wrong_credential',
    });
  }
});

test('a parameter of the query is not the query', () => {
  const one = signed('"@method" "@authority" "@path" "@query-param";name="source" "content-digest"', [
    'POST',
    'hooks.example.com',
    '/leads',
    'a%20b',
    digest,
  ]);
  expect(take(one)).toMatchObject({ detail: 'the signature does not cover @target-uri' });
  expect(take(one, ['method', 'digest', '@path'])).toMatchObject({ ok: true });
});

test('a signature that cannot be read, or has no counterpart, does not spoil a valid one', () => {
  const scheme = schemeNamed('rfc9421');
  const of = (input: string, signature: string) =>
    verify(arrived(input, signature), scheme, [keyOf(scheme, secret)], now);
  const other = 'other=("@method" "@target-uri" "content-digest");created=1';
  for (const [input, signature] of [
    [`${other}, ${full.input}`, `other=:potato:, ${full.signature}`],
    [`${full.input}, ${other}`, full.signature],
    [full.input, `${full.signature}, other=:AAAA:`],
    [`other=1, ${full.input}`, `other=:AAAA:, ${full.signature}`],
    [`${other}, ${full.input}`, `other="text", ${full.signature}`],
    [`other=("@method"), ${full.input}`, `other=:AAAA:, ${full.signature}`],
  ] as const) {
    expect(of(input, signature), signature).toMatchObject({ ok: true });
    expect(of(input, signature.replace(full.signature, 'sig=:AAAA:')).ok, signature).toBe(false);
  }
  expect(of(other, full.signature)).toMatchObject({ reason: 'malformed_credential' });
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();

async function signedByLibrary(alg: 'rsa-pss-sha512' | 'rsa-v1_5-sha256', params: string[]) {
  const message = outgoing();
  const { headers } = await httpbis.signMessage(
    {
      key: createSigner(rsa.privateKey, alg, 'k1'),
      fields: ['@method', '@target-uri', 'content-digest'],
      params,
      paramValues: { created: new Date(now) },
    },
    { method: message.method, url: message.url, headers: { host: 'h', 'content-digest': digest } },
  );
  return delivered(Object.entries(headers).slice(1));
}

test.each(['rsa-pss-sha512', 'rsa-v1_5-sha256'] as const)(
  '%s: what the library signs is accepted, named or not, unless the key is for the other one',
  async (alg) => {
    const scheme = schemeNamed('rfc9421');
    const jwk = (name: string) => JSON.stringify({ ...rsa.publicKey.export({ format: 'jwk' }), alg: name });
    const own = alg === 'rsa-pss-sha512' ? 'PS512' : 'RS256';
    for (const params of [
      ['created', 'keyid', 'alg'],
      ['created', 'keyid'],
    ]) {
      const delivery = await signedByLibrary(alg, params);
      const with_ = (key: string) => verify(delivery, scheme, [keyOf(scheme, key)], now);
      expect(with_(pem)).toMatchObject({ ok: true });
      expect(with_(jwk(own))).toMatchObject({ ok: true });
      expect(with_(jwk(own === 'PS512' ? 'RS256' : 'PS512'))).toMatchObject({ reason: 'wrong_credential' });
      const altered = { ...delivery, body: Buffer.from('{}') };
      expect(verify(altered, scheme, [keyOf(scheme, pem)], now).ok).toBe(false);
    }
    expect(() => scheme.key(new Secret(jwk('RS1')))).toThrow(ConfigError);
  },
);
