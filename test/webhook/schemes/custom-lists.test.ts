import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secret.ts';
import { schemeNamed, type SchemeOptions } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, type Headers, sampleBody } from '../delivery.ts';

const now = Date.UTC(2026, 0, 15, 12);
const seconds = String(now / 1000);
const signature = { signatureHeader: 'X-Sig' };
const text = sampleBody.toString();
const hex = (content: string) => createHmac('sha256', 's3cret').update(content).digest('hex');

const take = (options: SchemeOptions, headers: Headers, secret = 's3cret') => {
  const scheme = schemeNamed('custom', { ...signature, ...options });
  return verify(delivered(headers), scheme, [scheme.key(new Secret(secret))], now);
};

test.each([
  [{ timestampPrefix: 't=', prefix: 'v1=' }, `t=${seconds},v1=${hex(`${seconds}.${text}`)}`],
  [{ timestampPrefix: 't=', prefix: 'v1=' }, `v1=${hex(`${seconds}.${text}`)}, t=${seconds}`],
  [
    { timestampPrefix: 'ts=', prefix: 'h1=', separator: ';', signedContent: '{timestamp}:{body}' },
    `ts=${seconds};h1=${hex(`${seconds}:${text}`)}`,
  ],
  [
    { timestampPrefix: 't=', prefix: 's=', timestampFormat: 'milliseconds' as const },
    `t=${now},s=${hex(`${now}.${text}`)}`,
  ],
])('time and signature in one header: %j', (options, value) => {
  expect(take(options, [['x-sig', value]])).toMatchObject({ ok: true, timestamp: now });
  expect(take(options, [['x-sig', value.replace(/[\d]+/, '1768478401')]]).ok).toBe(false);
});

test('a time in the header of the signature must be there once, and be a time', () => {
  const options = { timestampPrefix: 't=', prefix: 'v1=' };
  const mac = hex(`${seconds}.${text}`);
  const of = (value: string) => take(options, [['x-sig', value]]);
  expect(of(`v1=${mac}`)).toMatchObject({ reason: 'missing_timestamp' });
  expect(of(`t=${seconds},t=${seconds},v1=${mac}`)).toMatchObject({ reason: 'repeated_credential' });
  expect(of(`t=soon,v1=${mac}`)).toMatchObject({ reason: 'malformed_timestamp' });
  expect(of(`t=${seconds}`)).toMatchObject({ reason: 'malformed_credential' });
});

test('signatures in a list: one that cannot be read, or is another, does not spoil the one that matches', () => {
  const options = { separator: ',', prefix: 'sha256=' };
  const good = `sha256=${hex(text)}`;
  for (const other of ['sha256=potato', `sha256=${'0'.repeat(64)}`, 'sha512=abc', '', ' ']) {
    expect(take(options, [['x-sig', `${other},${good}`]]), other).toMatchObject({ ok: true });
    expect(take(options, [['x-sig', `${good}, ${other}`]]), other).toMatchObject({ ok: true });
    expect(take(options, [['x-sig', other || 'x']]).ok, other).toBe(false);
  }
  const many = [...Array.from({ length: 16 }, () => `sha256=${'0'.repeat(64)}`), good].join(',');
  expect(take(options, [['x-sig', many]])).toMatchObject({ reason: 'malformed_credential' });
  expect(take({ prefix: 'sha256=' }, [['x-sig', `${good},${good}`]])).toMatchObject({
    reason: 'repeated_credential',
  });
});

test('a header that comes several times is taken only where the scheme says so', () => {
  const headers: Headers = [
    ['x-sig', 'f'.repeat(64)],
    ['X-Sig', hex(text)],
  ];
  expect(take({}, headers)).toMatchObject({ reason: 'repeated_credential' });
  expect(take({ separator: ',' }, headers)).toMatchObject({ reason: 'repeated_credential' });
  expect(take({ signatureHeaders: 'several' }, headers)).toMatchObject({ ok: true });
  expect(take({ signatureHeaders: 'several' }, [['x-sig', `potato, ${hex(text)}`]])).toMatchObject({
    ok: true,
  });
  expect(take({ signatureHeaders: 'several' }, headers.slice(0, 1))).toMatchObject({
    reason: 'wrong_credential',
  });
  expect(take({ signatureHeaders: 'several' }, [])).toMatchObject({ reason: 'missing_credential' });
  const sixteen: Headers = Array.from({ length: 17 }, () => ['x-sig', hex(text)] as const);
  expect(take({ signatureHeaders: 'several' }, sixteen)).toMatchObject({ reason: 'malformed_credential' });
  const timed = { signatureHeaders: 'several', timestampHeader: 'x-time' } as const;
  const twice: Headers = [
    ['x-sig', hex(`${seconds}.${text}`)],
    ['x-time', seconds],
    ['x-time', seconds],
  ];
  expect(take(timed, twice)).toMatchObject({ reason: 'repeated_credential' });
});

test('two headers that a proxy joined are not a list', () => {
  const mac = hex(`${seconds}:${text}`);
  const options = {
    timestampPrefix: 'ts=',
    prefix: 'h1=',
    separator: ';',
    signedContent: '{timestamp}:{body}',
  };
  const value = `ts=${seconds};h1=${mac}`;
  for (const comma of [',', ', ']) {
    expect(take(options, [['x-sig', value + comma + value]])).toMatchObject({
      reason: 'repeated_credential',
    });
  }
});

test('hex is read in any case, and nothing that is no hex', () => {
  const mac = hex(text);
  const mixed = mac.replace(/^[^a-f]*[a-f]/, (start) => start.toUpperCase());
  for (const encoding of ['hex', 'hex-upper'] as const) {
    for (const sent of [mac, mac.toUpperCase(), mixed]) {
      expect(take({ encoding }, [['x-sig', sent]])).toMatchObject({ ok: true });
    }
    for (const sent of [`${mac}g`, `${mac}0`, mac.replace(/.$/, 'g'), ` ${mac.slice(1)}`]) {
      expect(take({ encoding }, [['x-sig', sent]])).toMatchObject({ reason: 'malformed_credential' });
    }
  }
});

const ed25519 = generateKeyPairSync('ed25519');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const der = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
const raw = Buffer.from(ed25519.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
const seed = Buffer.from(ed25519.privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
const pem = (key: KeyObject) =>
  key.export({ type: key.type === 'public' ? 'spki' : 'pkcs8', format: 'pem' }).toString();
const jwk = (key: KeyObject) => JSON.stringify(key.export({ format: 'jwk' }));

const ed = sign(null, sampleBody, ed25519.privateKey);
const ec = sign('sha256', sampleBody, p256.privateKey);
const asymmetric: [string, SchemeOptions, string, string][] = [
  ['ed25519, raw in hex', { algorithm: 'ed25519' }, raw.toString('hex'), ed.toString('hex')],
  [
    'ed25519, raw in upper-case hex',
    { algorithm: 'ed25519' },
    raw.toString('hex').toUpperCase(),
    ed.toString('hex'),
  ],
  ['ed25519, raw in base64', { algorithm: 'ed25519' }, raw.toString('base64'), ed.toString('hex')],
  ['ed25519, raw in base64url', { algorithm: 'ed25519' }, raw.toString('base64url'), ed.toString('hex')],
  ['ed25519, DER', { algorithm: 'ed25519' }, der(ed25519.publicKey).toString('base64'), ed.toString('hex')],
  [
    'ed25519, PEM',
    { algorithm: 'ed25519', encoding: 'base64' },
    pem(ed25519.publicKey),
    ed.toString('base64'),
  ],
  [
    'ed25519, PEM in one line',
    { algorithm: 'ed25519' },
    pem(ed25519.publicKey).replaceAll('\n', '\\n'),
    ed.toString('hex'),
  ],
  ['ed25519, JWK', { algorithm: 'ed25519' }, jwk(ed25519.publicKey), ed.toString('hex')],
  ['ed25519, private PEM', { algorithm: 'ed25519' }, pem(ed25519.privateKey), ed.toString('hex')],
  ['ed25519, private JWK', { algorithm: 'ed25519' }, jwk(ed25519.privateKey), ed.toString('hex')],
  ['ed25519, whpk_', { algorithm: 'ed25519' }, `whpk_${raw.toString('base64')}`, ed.toString('hex')],
  ['ed25519, whsk_', { algorithm: 'ed25519' }, `whsk_${seed.toString('base64')}`, ed.toString('hex')],
  [
    'ed25519, 64 bytes',
    { algorithm: 'ed25519' },
    Buffer.concat([seed, raw]).toString('hex'),
    ed.toString('hex'),
  ],
  [
    'P-256, DER',
    { algorithm: 'ecdsa-p256-sha256-der' },
    der(p256.publicKey).toString('base64'),
    ec.toString('hex'),
  ],
  [
    'P-256, point',
    { algorithm: 'ecdsa-p256-sha256-der' },
    der(p256.publicKey).subarray(-65).toString('hex'),
    ec.toString('hex'),
  ],
  ['P-256, PEM', { algorithm: 'ecdsa-p256-sha256-der' }, pem(p256.publicKey), ec.toString('hex')],
  ['P-256, JWK', { algorithm: 'ecdsa-p256-sha256-der' }, jwk(p256.publicKey), ec.toString('hex')],
  ['P-256, private PEM', { algorithm: 'ecdsa-p256-sha256-der' }, pem(p256.privateKey), ec.toString('hex')],
  [
    'RSA, PEM',
    { algorithm: 'rsa-v1_5-sha256' },
    pem(rsa.publicKey),
    sign('sha256', sampleBody, rsa.privateKey).toString('hex'),
  ],
];

test.each(asymmetric)('a signature is checked with a key in each form: %s', (_, options, key, value) => {
  expect(take(options, [['x-sig', value]], key)).toMatchObject({ ok: true, key: 0 });
  expect(take(options, [['x-sig', value.slice(0, -2)]], key).ok).toBe(false);
  expect(take({ ...options, signedContent: '{path}{body}' }, [['x-sig', value]], key)).toMatchObject({
    reason: 'wrong_credential',
  });
});

test('no bytes in place of an asymmetric signature do more than not match', () => {
  const bytes = [ec, ed, Buffer.alloc(64), Buffer.alloc(70, 0x30), Buffer.alloc(256, 255), Buffer.alloc(8)];
  for (const [, options, key] of asymmetric) {
    for (const one of bytes) {
      const own = take({ ...options, encoding: 'hex' }, [['x-sig', one.toString('hex')]], key);
      const isOwn =
        (options.algorithm === 'ed25519' && one === ed) ||
        (one === ec && /der/.test(options.algorithm ?? ''));
      expect(own.ok).toBe(isOwn);
    }
  }
});

test.each([
  ['ed25519', ''],
  ['ed25519', ' \n'],
  ['ed25519', 'a shared secret'],
  ['ed25519', raw.toString('hex').slice(2)],
  ['ed25519', pem(p256.publicKey)],
  ['ed25519', `whpk_${raw.toString('base64').slice(4)}`],
  ['ed25519', Buffer.concat([seed, seed]).toString('hex')],
  ['ed25519', '{"kty":"oct","k":"AAAA"}'],
  ['ecdsa-p256-sha256-der', raw.toString('hex')],
  ['ecdsa-p256-sha256-der', '04'.repeat(65)],
  ['rsa-v1_5-sha256', pem(ed25519.publicKey)],
  ['hmac-sha256', pem(ed25519.publicKey)],
] as const)(
  'a key that does not fit is a configuration error which does not quote it: %s %j',
  (algorithm, key) => {
    const scheme = schemeNamed('custom', { ...signature, algorithm });
    let thrown: unknown;
    try {
      scheme.key(new Secret(key));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ConfigError);
    if (key.length > 12) expect(String(thrown)).not.toContain(key.slice(0, 12));
  },
);

test('a public key cannot sign', () => {
  const scheme = schemeNamed('discord');
  const message = { method: 'POST', url: 'https://a.example/', body: sampleBody, id: 'n' };
  expect(() => scheme.sign(message, scheme.key(new Secret(raw.toString('hex'))), now)).toThrow(ConfigError);
});

test.each<[string, SchemeOptions]>([
  ['a time from two places', { timestampPrefix: 't=', timestampHeader: 'x-time', prefix: 'v1=' }],
  ['a time beside a signature without a prefix', { timestampPrefix: 't=' }],
  ['prefixes that cannot be told apart', { timestampPrefix: 'v=', prefix: 'v=1' }],
  ['a time that is not signed', { timestampPrefix: 't=', prefix: 'v1=', signedContent: '{body}' }],
])('options that would check less than they seem to are an error: %s', (_, options) => {
  expect(() => schemeNamed('custom', { ...signature, ...options })).toThrow(ConfigError);
});
