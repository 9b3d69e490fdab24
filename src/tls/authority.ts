import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../time/clock.ts';
import { ConfigError, OutputError } from '../errors.ts';
import { replaceFile } from '../files/replace.ts';
import {
  ensureServerCertificate,
  readIfThere,
  type Authority,
  type CertificatePair,
} from './server-certificate.ts';

/** What a receiver on this machine shows, and what its callers trust. */
export interface LocalCertificate extends CertificatePair {
  /** For `curl --cacert`. */
  readonly caPath: string;
  readonly caPem: string;
}

/** A server certificate must fit into what is left of its authority's life. */
const renewBefore = 400 * 86_400_000;

/**
 * The local authority and a server certificate by it for `localhost`, `127.0.0.1`, `::1` and the host name; both are
 * made when missing and renewed in time. Several processes may start at once: they end with the same authority. Each
 * host name has an authority of its own, so one that was trusted once is never replaced because the machine was
 * renamed or shares its home directory. Throws a `ConfigError` when the files cannot be read or written.
 */
export async function ensureAuthority(
  dataDir: string,
  clock: Pick<Clock, 'now'>,
  host: string = hostname(),
): Promise<LocalCertificate> {
  const directory = directoryOf(dataDir, host);
  const names = dnsNames(host);
  try {
    await mkdir(join(dataDir, 'tls'), { recursive: true, mode: 0o700 });
    const authority = await ensureAuthorityIn(directory, names, clock.now());
    const pair = await ensureServerCertificate(join(directory, 'server.pem'), authority, names, clock.now());
    return { ...pair, caPath: join(directory, 'ca.pem'), caPem: authority.pem };
  } catch (error) {
    throw certificateError(error, directory);
  }
}

/** The authority's certificate as PEM, for our own senders to trust on loopback; undefined before one was made. */
export async function readAuthority(dataDir: string, host: string = hostname()): Promise<string | undefined> {
  return readIfThere(join(directoryOf(dataDir, host), 'ca.pem'));
}

const directoryOf = (dataDir: string, host: string): string =>
  join(dataDir, 'tls', dnsNames(host).at(-1) ?? 'localhost');

/** `localhost`, and the host name if it can stand in a certificate. */
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
  const found = await readAuthorityIn(directory);
  if (found !== undefined && Date.parse(found.certificate.validTo) - now > renewBefore) return found;
  if (found !== undefined) {
    // The name says which one it was: of several processes only one can move this very authority away.
    await renameUnlessReplaced(directory, `${directory}.${found.certificate.serialNumber.toLowerCase()}.old`);
  }
  const { issueAuthority } = await import('./issue-certificate.ts');
  const { certPem, keyPem } = issueAuthority(names, now);
  const draft = await mkdtemp(`${directory}.`);
  try {
    await replaceFile(join(draft, 'ca-key.pem'), keyPem, { mode: 0o600 });
    await replaceFile(join(draft, 'ca.pem'), certPem, { mode: 0o644 });
    await renameUnlessReplaced(draft, directory);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  const made = await readAuthorityIn(directory);
  if (made === undefined) throw new Error('ca.pem vanished');
  return made;
}

async function readAuthorityIn(directory: string): Promise<Authority | undefined> {
  const pem = await readIfThere(join(directory, 'ca.pem'));
  if (pem === undefined) return undefined;
  try {
    const keyPath = join(directory, 'ca-key.pem');
    const key = createPrivateKey(await readFile(keyPath, 'utf8'));
    await chmod(keyPath, 0o600);
    const certificate = new X509Certificate(pem);
    if (certificate.checkPrivateKey(key)) return { pem, certificate, key };
    throw new Error('ca.pem and ca-key.pem do not belong together');
  } catch (error) {
    // Half of it may have been read before another process replaced it, and half after.
    if ((await readIfThere(join(directory, 'ca.pem'))) === pem) throw error;
    return readAuthorityIn(directory);
  }
}

/** Renames a directory; that another process was faster is as good. */
async function renameUnlessReplaced(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOENT'].includes(code)) throw error;
  }
}

function certificateError(error: unknown, directory: string): unknown {
  const cause = error instanceof OutputError ? error.cause : error;
  const { code = '', message } = cause as NodeJS.ErrnoException;
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ELOOP'].includes(code)) {
    return new ConfigError(`the local certificates in ${directory} cannot be used: ${message}`, {
      hint: 'set LEADS_DATA_DIR to a directory that can be written, or give --cert and --key',
      cause,
    });
  }
  if (error instanceof OutputError) return error;
  return new ConfigError(`the local authority in ${directory} is damaged: ${message}`, {
    hint: 'remove that directory to have a new one made',
    cause,
  });
}
