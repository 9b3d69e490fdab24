import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../config/base-url.ts';
import { OutputError } from '../errors.ts';
import { closeToOthers, makeDirectory } from '../files/modes.ts';
import { readIfExists } from '../files/read.ts';
import { replaceFile } from '../files/replace.ts';
import type { Clock } from '../time/clock.ts';
import { damagedAuthority, inaccessibleAuthority } from './errors.ts';
import type { Authority, CertificatePair } from './issue-certificate.ts';

export interface LocalCertificate extends CertificatePair {
  readonly caPath: string;
  readonly caPem: string;
}

/** An authority is renewed this long before its end, in milliseconds, so that it outlives the server certificates that it issues. */
export const renewAuthorityBefore = 400 * 86_400_000;

/**
 * Creates what is missing and renews it in time; processes that start together use the same authority. Each
 * host name has its own authority, so that a trusted one is not replaced when the machine is renamed or shares
 * its home directory. Throws a `ConfigError` when the files cannot be read or written.
 */
export async function ensureAuthority(
  dataDir: string,
  clock: Pick<Clock, 'now'>,
  host: string = hostname(),
): Promise<LocalCertificate> {
  const directory = directoryOf(dataDir, host);
  const names = dnsNames(host);
  try {
    makeDirectory(join(dataDir, 'tls'), 0o700);
    const authority = await ensureAuthorityIn(directory, names, clock.now());
    const pair = await ensureServerCertificate(join(directory, 'server.pem'), authority, names, clock.now());
    return { ...pair, caPath: join(directory, 'ca.pem'), caPem: authority.pem };
  } catch (error) {
    throw certificateError(error, directory);
  }
}

/** Undefined before an authority was created. Throws a `ConfigError` when it cannot be read. */
export async function readAuthority(dataDir: string, host: string = hostname()): Promise<string | undefined> {
  try {
    return await readIfExists(authorityPath(dataDir, host));
  } catch (error) {
    throw certificateError(error, directoryOf(dataDir, host));
  }
}

export async function authorityFor(
  { protocol, hostname }: URL,
  dataDir: string,
): Promise<string | undefined> {
  return protocol === 'https:' && isLoopback(hostname) ? readAuthority(dataDir) : undefined;
}

export const authorityPath = (dataDir: string, host: string = hostname()): string =>
  join(directoryOf(dataDir, host), 'ca.pem');

export const authorityKeyPath = (dataDir: string, host: string = hostname()): string =>
  join(directoryOf(dataDir, host), 'ca-key.pem');

const directoryOf = (dataDir: string, host: string): string =>
  join(dataDir, 'tls', dnsNames(host).at(-1) ?? 'localhost');

function dnsNames(host: string): string[] {
  const name = host.toLowerCase();
  const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
  const usable = name.length <= 200 && isIP(name) === 0 && new RegExp(`^${label}(\\.${label})*$`).test(name);
  return usable && name !== 'localhost' ? ['localhost', name] : ['localhost'];
}

async function ensureAuthorityIn(
  directory: string,
  names: readonly string[],
  now: number,
): Promise<Authority> {
  const existing = await readAuthorityIn(directory);
  if (existing !== undefined && isUsable(existing.certificate, now)) return existing;
  if (existing !== undefined) {
    // The serial number is in the name, so that only one of several processes can move this authority away.
    await renameUnlessReplaced(
      directory,
      `${directory}.${existing.certificate.serialNumber.toLowerCase()}.old`,
    );
  }
  const { issueAuthority } = await import('./issue-certificate.ts');
  const { certPem, keyPem } = issueAuthority(names, now);
  const temporary = await mkdtemp(`${directory}.`);
  try {
    await replaceFile(join(temporary, 'ca-key.pem'), keyPem, { mode: 0o600 });
    await replaceFile(join(temporary, 'ca.pem'), certPem, { mode: 0o644 });
    await renameUnlessReplaced(temporary, directory);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  const created = await readAuthorityIn(directory);
  if (created === undefined) throw new Error('ca.pem vanished');
  return created;
}

/**
 * A certificate that is not valid yet was made while the clock was ahead, unless the clock is behind now: that must not replace an
 * authority that users trust.
 */
function isUsable({ validFrom, validTo }: X509Certificate, now: number): boolean {
  const isClockBehind = now < firstRelease;
  return Date.parse(validTo) - now > renewAuthorityBefore && (isClockBehind || Date.parse(validFrom) <= now);
}

/** This program is not older: an earlier time shows that the clock was reset. */
const firstRelease = Date.UTC(2026, 0, 1);

async function readAuthorityIn(directory: string): Promise<Authority | undefined> {
  const pem = await readIfExists(join(directory, 'ca.pem'));
  if (pem === undefined) return undefined;
  try {
    const keyPath = join(directory, 'ca-key.pem');
    const key = createPrivateKey(await readFile(keyPath, 'utf8'));
    closeToOthers(keyPath, statSync(keyPath), 0o600);
    const certificate = new X509Certificate(pem);
    if (certificate.checkPrivateKey(key)) return { pem, certificate, key };
    throw new Error('ca.pem and ca-key.pem do not belong together');
  } catch (error) {
    // Another process may have replaced the authority after one of the two files was read.
    if ((await readIfExists(join(directory, 'ca.pem'))) === pem) throw error;
    return readAuthorityIn(directory);
  }
}

/** Does nothing where another process has renamed the directory before, or put its own in the place. */
async function renameUnlessReplaced(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOENT'].includes(code)) throw error;
  }
}

function certificateError(error: unknown, directory: string): unknown {
  const cause = (error instanceof OutputError ? error.cause : error) as NodeJS.ErrnoException;
  const { code = '' } = cause;
  const isInaccessible = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ELOOP'].includes(code);
  if (!isInaccessible && error instanceof OutputError) return error;
  return isInaccessible ? inaccessibleAuthority(directory, cause) : damagedAuthority(directory, cause);
}

const renewServerBefore = 60 * 86_400_000;

async function ensureServerCertificate(
  path: string,
  authority: Authority,
  names: readonly string[],
  now: number,
): Promise<CertificatePair> {
  const existing = parseUsablePair(await readIfExists(path), authority, now);
  if (existing !== undefined) return existing;
  const { issueServerCertificate: issueServer } = await import('./issue-certificate.ts');
  const issued = issueServer(authority, [...names, '127.0.0.1', '::1'], now);
  // Certificate and key are in one file, so that they are replaced together.
  await replaceFile(path, issued.certPem + issued.keyPem, { mode: 0o600 });
  return issued;
}

function parseUsablePair(
  text: string | undefined,
  authority: Authority,
  now: number,
): CertificatePair | undefined {
  const keyStart = text?.indexOf('-----BEGIN PRIVATE KEY-----') ?? -1;
  if (text === undefined || keyStart < 0) return undefined;
  const [certPem, keyPem] = [text.slice(0, keyStart), text.slice(keyStart)];
  try {
    const certificate = new X509Certificate(certPem);
    const isUsable =
      certificate.verify(authority.certificate.publicKey) &&
      certificate.checkPrivateKey(createPrivateKey(keyPem)) &&
      Date.parse(certificate.validTo) - now > renewServerBefore &&
      Date.parse(certificate.validFrom) <= now;
    return isUsable ? { certPem, keyPem } : undefined;
  } catch {
    // A new certificate costs nothing, since clients trust the authority and not this certificate.
    return undefined;
  }
}
