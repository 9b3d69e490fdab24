import { expect, test } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { Secret } from '../../src/secret.ts';
import { checkDelivery } from '../../src/webhook/check-delivery.ts';
import { schemeNames } from '../../src/webhook/presets.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { delivered, outgoing } from './delivery.ts';
import { cases, keyOf } from './schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);

test.each(cases)('$name: an empty secret is a configuration error', ({ scheme }) => {
  for (const empty of ['', ' ', '\n', 'whsec_'.slice(0, 0)]) {
    expect(() => scheme.key(new Secret(empty))).toThrow(ConfigError);
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
