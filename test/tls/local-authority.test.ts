import { X509Certificate } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError, describe } from '../../src/errors.ts';
import { ensureAuthority, readAuthority } from '../../src/tls/local-authority.ts';
import { FakeClock } from '../support/clock.ts';

const freshDir = (): string => join(mkdtempSync(join(tmpdir(), 'leads-tls-')), 'data');
const clock = new FakeClock();
const day = 86_400_000;
const mode = (path: string): number => statSync(path).mode & 0o777;
const expiry = (pem: string): number => Date.parse(new X509Certificate(pem).validTo);

test('an authority is created once, for loopback and this host', async () => {
  const dir = freshDir();
  expect(await readAuthority(dir, 'Box.Example')).toBeUndefined();
  const made = await ensureAuthority(dir, clock, 'Box.Example');
  const certificate = new X509Certificate(made.certPem);
  for (const name of ['localhost', 'box.example']) expect(certificate.checkHost(name)).toBe(name);
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(certificate.subjectAltName).toContain('IP Address:0:0:0:0:0:0:0:1');
  expect(certificate.verify(new X509Certificate(made.caPem).publicKey)).toBe(true);
  expect(await readAuthority(dir, 'box.example')).toBe(made.caPem);
  expect(await ensureAuthority(dir, clock, 'box.example')).toEqual(made);
});

test('keys can be read by their owner only, also after their mode was changed', async () => {
  const dir = freshDir();
  const { caPath } = await ensureAuthority(dir, clock, 'box');
  const keyPath = join(caPath, '..', 'ca-key.pem');
  expect([dir, join(dir, 'tls'), join(caPath, '..')].map(mode)).toEqual([0o700, 0o700, 0o700]);
  expect([keyPath, join(caPath, '..', 'server.pem')].map(mode)).toEqual([0o600, 0o600]);
  chmodSync(keyPath, 0o644);
  await ensureAuthority(dir, clock, 'box');
  expect(mode(keyPath)).toBe(0o600);
});

test('many processes that start at once use the same authority', async () => {
  const dir = freshDir();
  const made = await Promise.all(Array.from({ length: 20 }, () => ensureAuthority(dir, clock, 'box')));
  expect(new Set(made.map(({ caPem }) => caPem)).size).toBe(1);
  const authority = new X509Certificate(made[0]?.caPem ?? '');
  for (const { certPem } of made) expect(new X509Certificate(certPem).verify(authority.publicKey)).toBe(true);
  expect(readdirSync(join(dir, 'tls'))).toEqual(['box']);
  expect(readdirSync(join(dir, 'tls', 'box')).sort()).toEqual(['ca-key.pem', 'ca.pem', 'server.pem']);
});

test('the server certificate is renewed before it expires, the authority stays', async () => {
  const dir = freshDir();
  const first = await ensureAuthority(dir, clock, 'box');
  expect(expiry(first.certPem) - clock.now()).toBeLessThanOrEqual(397 * day);
  const early = { now: () => expiry(first.certPem) - 61 * day };
  expect((await ensureAuthority(dir, early, 'box')).certPem).toBe(first.certPem);
  const late = { now: () => expiry(first.certPem) - 59 * day };
  const renewed = await ensureAuthority(dir, late, 'box');
  expect(renewed.certPem).not.toBe(first.certPem);
  expect(renewed.caPem).toBe(first.caPem);
});

test('an authority that expires soon is replaced once, by several processes at once', async () => {
  const dir = freshDir();
  const first = await ensureAuthority(dir, clock, 'box');
  const late = { now: () => expiry(first.caPem) - 399 * day };
  const made = await Promise.all(Array.from({ length: 10 }, () => ensureAuthority(dir, late, 'box')));
  expect(new Set(made.map(({ caPem }) => caPem)).size).toBe(1);
  expect(made[0]?.caPem).not.toBe(first.caPem);
  for (const { certPem, caPem } of made) {
    expect(new X509Certificate(certPem).verify(new X509Certificate(caPem).publicKey)).toBe(true);
  }
});

test('an authority that was made while the clock was ahead is replaced, and not while it is behind', async () => {
  const dir = freshDir();
  const ahead = await ensureAuthority(dir, new FakeClock(clock.now() + 3650 * day), 'box');
  const atReset = await ensureAuthority(dir, new FakeClock(0), 'box');
  expect(atReset.caPem).toBe(ahead.caPem);
  const made = await ensureAuthority(dir, clock, 'box');
  for (const pem of [made.caPem, made.certPem]) {
    const { validFrom, validTo } = new X509Certificate(pem);
    expect(Date.parse(validFrom)).toBeLessThan(clock.now());
    expect(Date.parse(validTo)).toBeGreaterThan(clock.now());
  }
  expect(new X509Certificate(made.certPem).verify(new X509Certificate(made.caPem).publicKey)).toBe(true);
  expect(await ensureAuthority(dir, clock, 'box')).toEqual(made);
});

test('another host name gets an authority of its own, and the first one stays', async () => {
  const dir = freshDir();
  const home = await ensureAuthority(dir, clock, 'home');
  const away = await ensureAuthority(dir, clock, 'away');
  expect(away.caPem).not.toBe(home.caPem);
  expect(new X509Certificate(away.certPem).checkHost('away')).toBe('away');
  expect((await ensureAuthority(dir, clock, 'home')).caPem).toBe(home.caPem);
});

test.each(['', 'localhost', '10.1.2.3', 'under_score', '../../evil', 'ünï', 'x'.repeat(300)])(
  'a host name that no certificate can hold is left out: %j',
  async (host) => {
    const dir = freshDir();
    const { caPath, certPem } = await ensureAuthority(dir, clock, host);
    expect(caPath).toBe(join(dir, 'tls', 'localhost', 'ca.pem'));
    expect(new X509Certificate(certPem).subjectAltName).toBe(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    );
  },
);

test('a damaged server certificate is replaced, a damaged authority is an error', async () => {
  const dir = freshDir();
  const { caPath, caPem } = await ensureAuthority(dir, clock, 'box');
  writeFileSync(join(caPath, '..', 'server.pem'), 'torn');
  const again = await ensureAuthority(dir, clock, 'box');
  expect(again.caPem).toBe(caPem);
  expect(new X509Certificate(again.certPem).checkHost('box')).toBe('box');
  writeFileSync(caPath, 'torn');
  const error = await ensureAuthority(dir, clock, 'box').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  expect(describe(error)).toHaveProperty('hint', 'remove that directory to have a new one made');
  expect(readFileSync(caPath, 'utf8')).toBe('torn');
});

test('a data directory that cannot be written is a configuration error', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'leads-tls-')), 'file');
  writeFileSync(file, '');
  const error = await ensureAuthority(file, clock, 'box').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  expect(describe(error).message).toContain(join(file, 'tls', 'box'));
  expect(existsSync(join(file, 'tls'))).toBe(false);
});
