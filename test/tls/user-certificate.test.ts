import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError, describe } from '../../src/errors.ts';
import { ensureAuthority } from '../../src/tls/local-authority.ts';
import { readUserCertificate } from '../../src/tls/user-certificate.ts';

const dir = mkdtempSync(join(tmpdir(), 'leads-cert-'));
const now = Date.UTC(2026, 5, 1);
const day = 86_400_000;
const { certPem, keyPem, caPem } = await ensureAuthority(dir, { now: () => now }, 'localhost');
const other = await ensureAuthority(dir, { now: () => now }, 'other');

const file = (name: string, content: string | Uint8Array): string => {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
};
const cert = file('cert.pem', certPem);
const key = file('key.pem', keyPem);
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const cipher = { cipher: 'aes-256-cbc', passphrase: 'pass' } as const;
const weak = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

async function failure(certPath: string, keyPath: string, at = now): Promise<ConfigError> {
  const error = await readUserCertificate(certPath, keyPath, at).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  return error as ConfigError;
}

test('a certificate and its key are used unchanged, issuers included', async () => {
  const chain = file('chain.pem', certPem + caPem);
  expect(await readUserCertificate(chain, key, now)).toEqual({ certPem: certPem + caPem, keyPem });
});

test.each<[name: string, read: () => Promise<ConfigError>, message: RegExp, hint?: RegExp]>([
  [
    'a missing certificate',
    () => failure(join(dir, 'none.pem'), key),
    /^--cert: cannot read .*none\.pem: there is no such file$/,
  ],
  ['a directory', () => failure(cert, dir), /^--key: cannot read .*: it is a directory$/],
  ['swapped files', () => failure(key, cert), /^--cert: .* holds no certificate in PEM form$/, /swapped\?$/],
  [
    'two certificates',
    () => failure(cert, cert),
    /^--key: .* holds no private key in PEM form$/,
    /swapped\?$/,
  ],
  [
    'a DER certificate',
    () => failure(file('c.der', Buffer.of(0x30, 0x82)), key),
    /no certificate in PEM form/,
    /openssl x509 -inform der/,
  ],
  [
    'a damaged certificate',
    () => failure(file('bad.pem', certPem.replace('MII', 'MIA')), key),
    /holds a damaged certificate/,
  ],
  [
    'a damaged key',
    () => failure(cert, file('bad.key', keyPem.replace('MIG', 'MIA'))),
    /holds a damaged private key/,
  ],
  [
    'an encrypted key',
    () => failure(cert, file('e.key', privateKey.export({ type: 'pkcs8', format: 'pem', ...cipher }))),
    /is encrypted with a passphrase$/,
    /openssl pkey -in/,
  ],
  [
    'an encrypted key of the old form',
    () => failure(cert, file('o.key', weak.export({ type: 'pkcs1', format: 'pem', ...cipher }))),
    /is encrypted with a passphrase$/,
    /openssl pkey -in/,
  ],
  [
    'a pair that does not match',
    () => failure(cert, file('x.key', other.keyPem)),
    /^--key: .*x\.key does not belong to the certificate in .*cert\.pem$/,
  ],
  [
    'a chain in the wrong order',
    () => failure(file('rev.pem', caPem + certPem), key),
    /does not belong/,
    /own certificate first/,
  ],
  [
    'an expired certificate',
    () => failure(cert, key, now + 400 * day),
    /^--cert: .* expired on 2027-0\d-\d\dT\d\d:\d\d:\d\dZ$/,
    /renew it/,
  ],
  [
    'one of the future',
    () => failure(cert, key, now - 2 * day),
    /^--cert: .* is not valid before 2026-05-31T00:00:00Z$/,
    /clock/,
  ],
])('%s is rejected with a message that says why', async (_, read, message, hint) => {
  const said = describe(await read());
  expect(said.message).toMatch(message);
  if (hint === undefined) expect(said.hint).toBeUndefined();
  else expect(said.hint).toMatch(hint);
});
