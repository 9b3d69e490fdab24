import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { chmod, mkdir, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../context.ts';
import { ConfigError } from '../errors.ts';

/** What a receiver on this machine shows, and what its callers trust. PEM texts. */
export interface LocalCertificate {
  /** For `curl --cacert`. */
  readonly caPath: string;
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

interface Authority {
  readonly pem: string;
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

const day = 86_400_000;
const renewServerBefore = 60 * day;
/** A server certificate must fit into what is left of its authority's life. */
const renewAuthorityBefore = 400 * day;

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
  try {
    await mkdir(join(dataDir, 'tls'), { recursive: true, mode: 0o700 });
    const authority = await ensureAuthorityIn(directory, dnsNames(host), clock.now());
    const server = await ensureServerIn(directory, authority, dnsNames(host), clock.now());
    return { caPath: join(directory, 'ca.pem'), caPem: authority.pem, ...server };
  } catch (error) {
    throw explained(error, directory);
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

async function ensureAuthorityIn(directory: string, names: string[], now: number): Promise<Authority> {
  const found = await readAuthorityIn(directory);
  if (found !== undefined && Date.parse(found.certificate.validTo) - now > renewAuthorityBefore) return found;
  if (found !== undefined) {
    // Only one of several processes can move this very authority away: the name says which one it was.
    await moved(directory, `${directory}.until-${found.certificate.serialNumber.toLowerCase()}`);
  }
  const { issueAuthority } = await import('./issue.ts');
  const { certPem, keyPem } = issueAuthority(names, now);
  const making = await mkdtemp(`${directory}.`);
  try {
    await writeDurably(join(making, 'ca-key.pem'), keyPem, 0o600);
    await writeDurably(join(making, 'ca.pem'), certPem, 0o644);
    await moved(making, directory);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  const made = await readAuthorityIn(directory);
  if (made === undefined) throw new ConfigError(`the local authority in ${directory} vanished`);
  return made;
}

async function readAuthorityIn(directory: string): Promise<Authority | undefined> {
  const pem = await readIfThere(join(directory, 'ca.pem'));
  if (pem === undefined) return undefined;
  const keyPath = join(directory, 'ca-key.pem');
  const keyPem = await readFile(keyPath, 'utf8');
  await chmod(keyPath, 0o600);
  const certificate = new X509Certificate(pem);
  const key = createPrivateKey(keyPem);
  if (certificate.checkPrivateKey(key)) return { pem, certificate, key };
  throw new Error('ca.pem and ca-key.pem do not belong together');
}

async function ensureServerIn(
  directory: string,
  authority: Authority,
  names: readonly string[],
  now: number,
): Promise<{ certPem: string; keyPem: string }> {
  const path = join(directory, 'server.pem');
  const found = serverPair(await readIfThere(path), authority, now);
  if (found !== undefined) return found;
  const { issueServer } = await import('./issue.ts');
  const issued = issueServer(authority, [...names, '127.0.0.1', '::1'], now);
  // One file, so that certificate and key are replaced together.
  const making = await mkdtemp(`${path}.`);
  try {
    await writeDurably(join(making, 'server.pem'), issued.certPem + issued.keyPem, 0o600);
    await rename(join(making, 'server.pem'), path);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  return issued;
}

/** The stored pair, if it is whole, by this authority, and good for a while. */
function serverPair(
  text: string | undefined,
  authority: Authority,
  now: number,
): { certPem: string; keyPem: string } | undefined {
  const at = text?.indexOf('-----BEGIN PRIVATE KEY-----') ?? -1;
  if (text === undefined || at < 0) return undefined;
  const [certPem, keyPem] = [text.slice(0, at), text.slice(at)];
  try {
    const certificate = new X509Certificate(certPem);
    const sound =
      certificate.verify(authority.certificate.publicKey) &&
      certificate.checkPrivateKey(createPrivateKey(keyPem)) &&
      Date.parse(certificate.validTo) - now > renewServerBefore &&
      Date.parse(certificate.validFrom) <= now;
    return sound ? { certPem, keyPem } : undefined;
  } catch {
    // Torn or foreign: a new one costs nothing, nobody trusts this one by itself.
    return undefined;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeDurably(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Renames a directory; that another process was faster is as good. */
async function moved(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOENT'].includes(code)) throw error;
  }
}

function explained(error: unknown, directory: string): Error {
  if (error instanceof ConfigError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && /^E[A-Z]+$/.test(code)) {
    return new ConfigError(`the local certificates in ${directory} cannot be used: ${message}`, {
      hint: 'set LEADS_DATA_DIR to a directory that can be written, or give --cert and --key',
      cause: error,
    });
  }
  return new ConfigError(`the local authority in ${directory} is damaged: ${message}`, {
    hint: 'remove that directory to have a new one made',
    cause: error,
  });
}
