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

interface Row {
  readonly name: string;
  readonly read: () => Promise<ConfigError>;
  readonly message: RegExp;
  readonly hint: RegExp | undefined;
}

test.each<Row>([
  {
    name: 'a missing certificate',
    read: () => failure(join(dir, 'none.pem'), key),
    message: /^--cert: cannot read .*none\.pem: there is no such file$/,
    hint: undefined,
  },
  {
    name: 'a directory',
    read: () => failure(cert, dir),
    message: /^--key: cannot read .*: it is a directory$/,
    hint: undefined,
  },
  {
    name: 'swapped files',
    read: () => failure(key, cert),
    message: /^--cert: .* holds no certificate in PEM form$/,
    hint: /swapped\?$/,
  },
  {
    name: 'two certificates',
    read: () => failure(cert, cert),
    message: /^--key: .* holds no private key in PEM form$/,
    hint: /swapped\?$/,
  },
  {
    name: 'a DER certificate',
    read: () => failure(file('c.der', Buffer.of(0x30, 0x82)), key),
    message: /no certificate in PEM form/,
    hint: /openssl x509 -inform der/,
  },
  {
    name: 'a damaged certificate',
    read: () => failure(file('bad.pem', certPem.replace('MII', 'MIA')), key),
    message: /holds a damaged certificate/,
    hint: undefined,
  },
  {
    name: 'a damaged key',
    read: () => failure(cert, file('bad.key', keyPem.replace('MIG', 'MIA'))),
    message: /holds a damaged private key/,
    hint: undefined,
  },
  {
    name: 'an encrypted key',
    read: () => failure(cert, file('e.key', privateKey.export({ type: 'pkcs8', format: 'pem', ...cipher }))),
    message: /is encrypted with a passphrase$/,
    hint: /openssl pkey -in/,
  },
  {
    name: 'an encrypted key of the old form',
    read: () => failure(cert, file('o.key', weak.export({ type: 'pkcs1', format: 'pem', ...cipher }))),
    message: /is encrypted with a passphrase$/,
    hint: /openssl pkey -in/,
  },
  {
    name: 'a pair that does not match',
    read: () => failure(cert, file('x.key', other.keyPem)),
    message: /^--key: .*x\.key does not belong to the certificate in .*cert\.pem$/,
    hint: undefined,
  },
  {
    name: 'a chain in the wrong order',
    read: () => failure(file('rev.pem', caPem + certPem), key),
    message: /does not belong/,
    hint: /own certificate first/,
  },
  {
    name: 'an expired certificate',
    read: () => failure(cert, key, now + 400 * day),
    message: /^--cert: .* expired on 2027-0\d-\d\dT\d\d:\d\d:\d\dZ$/,
    hint: /renew it/,
  },
  {
    name: 'one of the future',
    read: () => failure(cert, key, now - 2 * day),
    message: /^--cert: .* is not valid before 2026-05-31T00:00:00Z$/,
    hint: /clock/,
  },
])('$name is rejected with a message that says why', async ({ read, message, hint }) => {
  const said = describe(await read());
  expect(said.message).toMatch(message);
  if (hint === undefined) expect(said.hint).toBeUndefined();
  else expect(said.hint).toMatch(hint);
});
