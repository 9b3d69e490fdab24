import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
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
const rfc = schemeNamed('rfc9421');
const shared = 'a shared secret of thirty-two by';
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed25519 = generateKeyPairSync('ed25519');
const pem = (key: typeof p256.publicKey) => key.export({ type: 'spki', format: 'pem' }).toString();

const signers = [
  { alg: 'hmac-sha256', key: shared, signer: createSigner(shared, 'hmac-sha256', 'k1') },
  { alg: 'ed25519', key: pem(ed25519.publicKey), signer: createSigner(ed25519.privateKey, 'ed25519', 'k1') },
  {
    alg: 'ecdsa-p256-sha256',
    key: pem(p256.publicKey),
    signer: createSigner(p256.privateKey, 'ecdsa-p256-sha256', 'k1'),
  },
];

interface Asked {
  readonly fields?: readonly string[];
  readonly params?: readonly string[];
  readonly values?: Readonly<Record<string, string | number | Date>>;
}

/** What the independent library makes of our sample delivery. */
async function signed(signer: (typeof signers)[number]['signer'], asked: Asked = {}) {
  const message = outgoing();
  const { headers } = await httpbis.signMessage(
    {
      key: signer,
      name: 'sig',
      fields: [...(asked.fields ?? ['@method', '@target-uri', 'content-digest'])],
      params: [...(asked.params ?? ['created', 'keyid', 'alg', 'nonce', 'expires'])],
      paramValues: {
        created: new Date(now),
        expires: new Date(now + 60_000),
        nonce: 'n-1',
        ...asked.values,
      },
    },
    {
      method: message.method,
      url: message.url,
      headers: { host: 'hooks.example.com', 'content-digest': contentDigest(sampleBody) },
    },
  );
  return delivered(
    Object.entries(headers)
      .map(([name, value]) => [name, value] as const)
      .slice(1),
  );
}

test.each(signers)(
  '$alg: what the library signs is accepted, with time and nonce',
  async ({ signer, key }) => {
    const verdict = verify(await signed(signer), rfc, [keyOf(rfc, key)], now);
    expect(verdict).toEqual({ ok: true, key: 0, timestamp: now, expires: now + 60_000, nonce: 'n-1' });
  },
);

test.each(signers)(
  '$alg: authority and path together are accepted in place of the target',
  async ({ signer, key }) => {
    const of = async (...fields: string[]) =>
      verify(
        await signed(signer, { fields: ['@method', 'content-digest', ...fields] }),
        rfc,
        [keyOf(rfc, key)],
        now,
      );
    expect(await of('@authority', '@path', '@query')).toMatchObject({ ok: true });
    for (const fields of [[], ['@path', '@query'], ['@authority'], ['@authority', '@path']]) {
      expect(await of(...fields)).toMatchObject({ reason: 'malformed_credential' });
    }
  },
);

test.each(signers)('$alg: method, digest and creation time must be signed', async ({ signer, key }) => {
  const keys = [keyOf(rfc, key)];
  const fields = ['@method', '@target-uri', 'content-digest'];
  for (const left of ['@method', 'content-digest']) {
    const arrived = await signed(signer, { fields: fields.filter((field) => field !== left) });
    expect(verify(arrived, rfc, keys, now)).toMatchObject({ reason: 'malformed_credential' });
  }
  const timeless = await signed(signer, { params: ['keyid'] });
  expect(verify(timeless, rfc, keys, now)).toMatchObject({ reason: 'missing_timestamp' });
});

test('an expired signature is rejected although it was created in time', async () => {
  const arrived = await signed(ed(), {});
  const keys = [keyOf(rfc, pem(ed25519.publicKey))];
  expect(verify(arrived, rfc, keys, now + 59_999)).toMatchObject({ ok: true });
  expect(verify(arrived, rfc, keys, now + 60_000)).toMatchObject({ reason: 'stale_timestamp' });
});

const ed = () => createSigner(ed25519.privateKey, 'ed25519', 'k1');

test('the key decides the algorithm: a public key is never used as a shared secret', async () => {
  const key = keyOf(rfc, pem(ed25519.publicKey));
  for (const forged of [pem(ed25519.publicKey), key.material.export({ type: 'spki', format: 'der' })]) {
    for (const params of [
      ['created', 'keyid', 'alg'],
      ['created', 'keyid'],
    ]) {
      const arrived = await signed(createSigner(forged, 'hmac-sha256', 'k1'), { params });
      expect(verify(arrived, rfc, [key], now)).toMatchObject({ reason: 'wrong_credential' });
    }
  }
  const lying = await signed(ed(), { values: { alg: 'ecdsa-p256-sha256' } });
  expect(verify(lying, rfc, [key], now)).toMatchObject({ reason: 'wrong_credential' });
});

test('a key with an id is used for that keyid only', async () => {
  const jwk = (kid: string) => JSON.stringify({ ...ed25519.publicKey.export({ format: 'jwk' }), kid });
  expect(verify(await signed(ed()), rfc, [keyOf(rfc, jwk('k1'))], now)).toMatchObject({ ok: true });
  expect(verify(await signed(ed()), rfc, [keyOf(rfc, jwk('k2'))], now)).toMatchObject({ ok: false });
  const nameless = await signed(ed(), { params: ['created'] });
  expect(verify(nameless, rfc, [keyOf(rfc, jwk('k1'))], now)).toMatchObject({ ok: false });
  const oct = JSON.stringify({ kty: 'oct', k: Buffer.from(shared).toString('base64url'), kid: 'k1' });
  const hmac = await signed(createSigner(shared, 'hmac-sha256', 'k1'));
  expect(verify(hmac, rfc, [keyOf(rfc, oct)], now)).toMatchObject({ ok: true });
});

test.each([
  ['labels that differ', 'a=("@method");created=1', 'b=:AA==:'],
  ['a label without a signature', 'a=("@method");created=1, b=("@method")', 'a=:AA==:'],
  ['five labels', 'a=(), b=(), c=(), d=(), e=()', 'a=:AA==:, b=:AA==:, c=:AA==:, d=:AA==:, e=:AA==:'],
  ['no list', 'a=1', 'a=:AA==:'],
  ['no bytes', 'a=("@method")', 'a="AA=="'],
  ['no dictionary', '((', 'a=:AA==:'],
  ['a component twice', 'a=("@method" "@method" "@target-uri" "content-digest");created=1', 'a=:AA==:'],
  ['a component with parameters', 'a=("@method";req "@target-uri" "content-digest");created=1', 'a=:AA==:'],
  [
    'a component that is not there',
    'a=("@method" "@target-uri" "content-digest" "x-none");created=1',
    'a=:AA==:',
  ],
  ['itself', 'a=("@method" "@target-uri" "content-digest" "@signature-params");created=1', 'a=:AA==:'],
  ['created as text', 'a=("@method" "@target-uri" "content-digest");created="1"', 'a=:AA==:'],
  ['expires as text', 'a=("@method" "@target-uri" "content-digest");created=1;expires="2"', 'a=:AA==:'],
])('a malformed signature is rejected: %s', (_, input, signature) => {
  const arrived = delivered([
    ['content-digest', contentDigest(sampleBody)],
    ['signature-input', input],
    ['signature', signature],
  ]);
  const verdict = verify(arrived, rfc, [keyOf(rfc, shared)], now);
  expect(verdict.ok ? '' : verdict.reason).toMatch(/^(malformed|missing)_/);
});

test('a key that cannot be used is a configuration error which does not quote it', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const bad = [
    '',
    '  ',
    '{',
    '{"kty":"oct"}',
    '{"kty":"oct","k":""}',
    '{"kty":"OKP","crv":"Ed25519"}',
    `-----BEGIN PUBLIC KEY-----\n${randomBytes(40).toString('base64')}\n-----END PUBLIC KEY-----`,
    '-----BEGIN NOTHING-----',
    pem(rsa.publicKey),
    pem(p384.publicKey),
  ];
  for (const secret of bad) {
    let thrown: unknown;
    try {
      rfc.key(new Secret(secret));
    } catch (error) {
      thrown = error;
    }
    expect(thrown, secret).toBeInstanceOf(ConfigError);
    if (secret.length > 12) expect(String(thrown)).not.toContain(secret.slice(0, 12));
  }
});

test('a private key verifies too, and a public key cannot sign', () => {
  const text = ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  expect(createPublicKey(createPrivateKey(text)).asymmetricKeyType).toBe('ed25519');
  const key = keyOf(rfc, text);
  expect(verify(delivered(rfc.sign(outgoing(), key, now)), rfc, [key], now)).toMatchObject({ ok: true });
  expect(() => rfc.sign(outgoing(), keyOf(rfc, pem(ed25519.publicKey)), now)).toThrow(ConfigError);
});
