import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { Secret } from '../../src/secret.ts';
import { issueAuthority } from '../../src/tls/issue-certificate.ts';
import { checkDelivery } from '../../src/webhook/check-delivery.ts';
import { schemeNames } from '../../src/webhook/vendor-presets.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { delivered, outgoing } from './delivery.ts';
import { cases, keyOf } from './schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);

test.each(cases)('$name: an empty secret is a configuration error', ({ scheme }) => {
  for (const empty of ['', ' ', '\n', 'whsec_'.slice(0, 0)]) {
    expect(() => scheme.key(new Secret(empty))).toThrow(ConfigError);
  }
});

const ed25519 = generateKeyPairSync('ed25519').publicKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
const der = (key: KeyObject, type: 'spki' | 'pkcs1' = 'spki'): Buffer => key.export({ type, format: 'der' });

const certificate = new X509Certificate(issueAuthority(['localhost'], now).certPem);

/** What everybody may know. */
const publicKeys: Readonly<Record<string, Secret>> = {
  pem: new Secret(ed25519.export({ type: 'spki', format: 'pem' }).toString()),
  jwk: new Secret(JSON.stringify(ed25519.export({ format: 'jwk' }))),
  'jwk of RSA': new Secret(`\n ${JSON.stringify(rsa.export({ format: 'jwk' }))}`),
  whpk: new Secret(`whpk_${der(ed25519).subarray(-32).toString('base64')}`),
  base64: new Secret(der(ed25519).toString('base64')),
  'base64 in lines': new Secret(der(rsa).toString('base64').replace(/.{64}/g, '$&\n')),
  base64url: new Secret(der(rsa).toString('base64url')),
  'base64 behind whsec_': new Secret(`whsec_${der(ed25519).toString('base64')}`),
  'base64 of PKCS #1': new Secret(der(rsa, 'pkcs1').toString('base64')),
  hex: new Secret(der(ed25519).toString('hex')),
  bytes: Secret.ofBytes(der(ed25519)),
  'set of keys': new Secret(JSON.stringify({ keys: [ed25519.export({ format: 'jwk' })] })),
  'list of keys': new Secret(JSON.stringify([ed25519.export({ format: 'jwk' })])),
  certificate: new Secret(certificate.toString()),
  'certificate in DER': Secret.ofBytes(certificate.raw),
  'certificate in base64': new Secret(certificate.raw.toString('base64')),
};

const sharedSecretCases = cases.filter(
  ({ scheme, secret }) => keyOf(scheme, secret).material.type === 'secret',
);

test.each(sharedSecretCases)('$name: a public key is never taken for a shared secret', ({ scheme }) => {
  for (const [form, secret] of Object.entries(publicKeys)) {
    let type: string;
    try {
      type = scheme.key(secret).material.type;
    } catch (error) {
      expect(error, form).toBeInstanceOf(ConfigError);
      continue;
    }
    expect(type, form).toBe('public');
  }
});

test.each(cases)('$name: without keys every delivery is rejected', ({ scheme, secret }) => {
  const arrived = delivered(scheme.sign(outgoing(), keyOf(scheme, secret), now));
  expect(checkDelivery(arrived, { path: undefined, scheme, keys: [] }, now)).toMatchObject({ status: 401 });
});

test.each(cases)('$name: without its header every delivery is rejected', ({ scheme, secret }) => {
  const keys = [keyOf(scheme, secret)];
  const found = checkDelivery(delivered([]), { path: undefined, scheme, keys }, now);
  expect(found).toMatchObject({ status: 401, reason: 'missing_credential' });
});

test.each(cases)('$name: a delivery signed in any other scheme is rejected', ({ scheme, secret, name }) => {
  const keys = [keyOf(scheme, secret)];
  for (const other of cases) {
    if (other.scheme.credentialHeaders.some((header) => scheme.credentialHeaders.includes(header))) continue;
    const headers = other.scheme.sign(outgoing(), keyOf(other.scheme, other.secret), now);
    const found = checkDelivery(delivered(headers), { path: undefined, scheme, keys }, now);
    expect(found, `${other.name} under ${name}`).toMatchObject({ status: 401, reason: 'missing_credential' });
  }
});

test('an unknown scheme name is an error, and no name selects the unverified scheme', () => {
  const names = [
    '',
    'none',
    'None',
    'unverified',
    'Token',
    ' token',
    'hmac',
    'toString',
    '__proto__',
    'constructor',
  ];
  for (const name of names) expect(() => schemeNamed(name)).toThrow(ConfigError);
  expect(schemeNames).not.toContain('none');
});
