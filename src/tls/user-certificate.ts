import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../errors.ts';
import {
  damagedPem,
  earlyCertificate,
  encryptedKey,
  expiredCertificate,
  keyOfAnotherCertificate,
  noCertificate,
  noPrivateKey,
  type PemOption,
  unreadablePem,
  unusableCertificate,
} from './errors.ts';
import type { CertificatePair } from './issue-certificate.ts';

export async function readUserCertificate(
  certPath: string,
  keyPath: string,
  now: number,
): Promise<CertificatePair> {
  const pair = { certPem: await read('cert', certPath), keyPem: await read('key', keyPath) };
  checkCertificate(certPath, keyPath, pair, now);
  return pair;
}

/** Throws a `ConfigError` when a TLS server cannot use the pair at `now` (milliseconds since the epoch). */
export function checkCertificate(
  certPath: string,
  keyPath: string,
  { certPem, keyPem }: CertificatePair,
  now: number,
): void {
  const certificate = parseCertificate(certPath, certPem);
  const key = parseKey(keyPath, keyPem);
  if (!certificate.checkPrivateKey(key)) throw mismatchError(certPath, keyPath, certPem, key);
  const { validFrom, validTo } = certificate;
  if (now >= Date.parse(validTo)) throw expiredCertificate(certPath, isoOf(validTo));
  if (now < Date.parse(validFrom)) throw earlyCertificate(certPath, isoOf(validFrom));
  try {
    createSecureContext({ cert: certPem, key: keyPem, minVersion: 'TLSv1.2' });
  } catch (cause) {
    throw unusableCertificate(certPath, reasonOf(cause), cause);
  }
}

async function read(option: PemOption, path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (cause) {
    throw unreadablePem(option, path, cause);
  }
}

function parseCertificate(path: string, pem: string): X509Certificate {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw noCertificate(path, pem.includes('PRIVATE KEY-----'));
  }
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw damagedPem('cert', path, reasonOf(cause), cause);
  }
}

function parseKey(path: string, pem: string): KeyObject {
  if (!/-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/.test(pem)) {
    throw noPrivateKey(path, pem.includes('-----BEGIN CERTIFICATE-----'));
  }
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem)) throw encryptedKey(path);
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw damagedPem('key', path, reasonOf(cause), cause);
  }
}

function mismatchError(certPath: string, keyPath: string, certPem: string, key: KeyObject): Error {
  const certificates = certPem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const isLater = certificates.slice(1).some((pem) => parseCertificate(certPath, pem).checkPrivateKey(key));
  return keyOfAnotherCertificate(certPath, keyPath, isLater);
}

const isoOf = (validity: string): string => new Date(validity).toISOString().replace('.000Z', 'Z');

const reasonOf = (error: unknown): string => messageOf(error).split(':').at(-1)?.trim() ?? '';
