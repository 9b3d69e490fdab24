import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../config/base-url.ts';
import { OutputError } from '../errors.ts';
import { closeToOthers } from '../files/close-to-others.ts';
import { makeDirectory } from '../files/make-directory.ts';
import { readIfExists } from '../files/read.ts';
import { replaceFile } from '../files/replace.ts';
import type { Clock } from '../time/clock.ts';
import { damagedAuthority, inaccessibleAuthority } from './errors.ts';
import type { Authority, CertificatePair } from './issue-certificate.ts';

/** The certificate of a receiver on this machine, and the authority that its clients must trust. */
export interface LocalCertificate extends CertificatePair {
  /** For `curl --cacert`. */
  readonly caPath: string;
  readonly caPem: string;
}

/** The authority must be valid for longer than a server certificate that it issues; it is replaced this long before, ms. */
export const renewAuthorityBefore = 400 * 86_400_000;

/**
 * The local authority, and a server certificate that it issued for `localhost`, `127.0.0.1`, `::1` and the host name; both
 * are created when they are missing, and renewed in time. Several processes that start at once use the same authority.
 * Each host name has an authority of its own: one that users trust is not replaced because the machine was renamed or
 * shares its home directory. Throws a `ConfigError` when the files cannot be read or written.
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

/** The authority's certificate as PEM; undefined before one was created. Throws a `ConfigError` when it cannot be read. */
export async function readAuthority(dataDir: string, host: string = hostname()): Promise<string | undefined> {
  try {
    return await readIfExists(authorityPath(dataDir, host));
  } catch (error) {
    throw certificateError(error, directoryOf(dataDir, host));
  }
}

/** The authority that our own clients trust for an https loopback address; other addresses need no data directory. */
export async function authorityFor(
  { protocol, hostname }: URL,
  dataDir: string,
): Promise<string | undefined> {
  return protocol === 'https:' && isLoopback(hostname) ? readAuthority(dataDir) : undefined;
}

/** The path of that certificate, for `curl --cacert`. */
export const authorityPath = (dataDir: string, host: string = hostname()): string =>
  join(directoryOf(dataDir, host), 'ca.pem');

/** The key beside it. */
export const authorityKeyPath = (dataDir: string, host: string = hostname()): string =>
  join(directoryOf(dataDir, host), 'ca-key.pem');

const directoryOf = (dataDir: string, host: string): string =>
  join(dataDir, 'tls', dnsNames(host).at(-1) ?? 'localhost');

/** `localhost`, and the host name if a certificate can contain it. */
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
    // The serial number in the name: of several processes only one can move this authority away.
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

/** A certificate that is valid later only was made while the clock was ahead; a clock that is behind must not cost the users' trust. */
function isUsable({ validFrom, validTo }: X509Certificate, now: number): boolean {
  const isBehind = now < firstRelease;
  return Date.parse(validTo) - now > renewAuthorityBefore && (isBehind || Date.parse(validFrom) <= now);
}

/** A clock that says an earlier time was reset. */
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

/** Renames a directory; when another process did it first, nothing is left to do. */
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

/** The certificate that `authority` issued for this machine, kept at `path`; a new one when it is missing, damaged or expires soon. */
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
    // Damaged, or not ours: a new one costs nothing, since clients trust the authority and not this certificate.
    return undefined;
  }
}
