import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ConfigError, messageOf } from '../errors.ts';
import type { CertificatePair } from './issue-certificate.ts';
import type { PemFile, TlsProblem } from './problems.ts';

/** Reads the PEM files of a certificate and its key, and checks them. Throws a `ConfigError`. */
export async function readUserCertificate(
  certPath: string,
  keyPath: string,
  now: number,
): Promise<CertificatePair> {
  const pair = { certPem: await read('cert', certPath), keyPem: await read('key', keyPath) };
  checkCertificate(certPath, keyPath, pair, now);
  return pair;
}

/**
 * Checks that a TLS server can use the pair of these files at `now` (milliseconds since the epoch). Throws a `ConfigError` that
 * says what is wrong with which file.
 */
export function checkCertificate(
  certPath: string,
  keyPath: string,
  { certPem, keyPem }: CertificatePair,
  now: number,
): void {
  const certificate = parseCertificate(certPath, certPem);
  const key = parseKey(keyPath, keyPem);
  if (!certificate.checkPrivateKey(key)) throw mismatch(certPath, keyPath, certPem, key);
  const { validFrom, validTo } = certificate;
  if (now >= Date.parse(validTo)) {
    throw pemError({ kind: 'expired-certificate', path: certPath, at: isoOf(validTo) });
  }
  if (now < Date.parse(validFrom)) {
    throw pemError({ kind: 'early-certificate', path: certPath, at: isoOf(validFrom) });
  }
  try {
    createSecureContext({ cert: certPem, key: keyPem, minVersion: 'TLSv1.2' });
  } catch (cause) {
    throw pemError({ kind: 'unusable-certificate', path: certPath, reason: reasonOf(cause) }, cause);
  }
}

const pemError = (problem: TlsProblem, cause?: unknown): ConfigError => new ConfigError(problem, { cause });

async function read(file: PemFile, path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw pemError({ kind: 'unreadable-pem', file, path, code, reason: message }, cause);
  }
}

function parseCertificate(path: string, pem: string): X509Certificate {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw pemError({ kind: 'no-certificate', path, isSwapped: pem.includes('PRIVATE KEY-----') });
  }
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw pemError({ kind: 'damaged-pem', file: 'cert', path, reason: reasonOf(cause) }, cause);
  }
}

function parseKey(path: string, pem: string): KeyObject {
  if (!/-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/.test(pem)) {
    throw pemError({ kind: 'no-private-key', path, isSwapped: pem.includes('-----BEGIN CERTIFICATE-----') });
  }
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    throw pemError({ kind: 'encrypted-key', path });
  }
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw pemError({ kind: 'damaged-pem', file: 'key', path, reason: reasonOf(cause) }, cause);
  }
}

/** In a bundle the server's own certificate must be the first; the usual mistake is that it is not. */
function mismatch(certPath: string, keyPath: string, certPem: string, key: KeyObject): ConfigError {
  const all = certPem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const isLater = all.slice(1).some((pem) => parseCertificate(certPath, pem).checkPrivateKey(key));
  return pemError({ kind: 'key-of-another-certificate', certPath, keyPath, isLater });
}

const isoOf = (validity: string): string => new Date(validity).toISOString().replace('.000Z', 'Z');

/** The last part of OpenSSL's message, which says the reason. */
const reasonOf = (error: unknown): string => messageOf(error).split(':').at(-1)?.trim() ?? '';
