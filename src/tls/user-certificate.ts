import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ConfigError, messageOf } from '../errors.ts';
import type { CertificatePair } from './issue-certificate.ts';

/**
 * Reads the PEM files of `--cert` and `--key`, and checks that a TLS server can use them at `now` (milliseconds since the
 * epoch). Throws a `ConfigError` that says what is wrong with which file.
 */
export async function readUserCertificate(
  certPath: string,
  keyPath: string,
  now: number,
): Promise<CertificatePair> {
  const certPem = await read('--cert', certPath);
  const keyPem = await read('--key', keyPath);
  const certificate = parseCertificate(certPath, certPem);
  const key = parseKey(keyPath, keyPem);
  if (!certificate.checkPrivateKey(key)) throw mismatch(certPath, keyPath, certPem, key);
  if (now >= Date.parse(certificate.validTo)) {
    throw new ConfigError(`--cert: ${certPath} expired on ${isoOf(certificate.validTo)}`, {
      hint: 'renew it, or leave --cert and --key out to use the local authority',
    });
  }
  if (now < Date.parse(certificate.validFrom)) {
    throw new ConfigError(`--cert: ${certPath} is not valid before ${isoOf(certificate.validFrom)}`, {
      hint: "check this machine's clock",
    });
  }
  try {
    createSecureContext({ cert: certPem, key: keyPem, minVersion: 'TLSv1.2' });
  } catch (error) {
    throw new ConfigError(`--cert: ${certPath} cannot be used for TLS: ${reasonOf(error)}`, { cause: error });
  }
  return { certPem, keyPem };
}

async function read(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'no such file',
      EACCES: 'permission denied',
      EISDIR: 'it is a directory',
    };
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${flag}: cannot read ${path}: ${reasons[code] ?? message}`, { cause: error });
  }
}

function parseCertificate(path: string, pem: string): X509Certificate {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw new ConfigError(`--cert: ${path} holds no certificate in PEM form`, {
      hint: pem.includes('PRIVATE KEY-----')
        ? 'it holds a private key: are --cert and --key swapped?'
        : `if it is DER: openssl x509 -inform der -in ${path} -out cert.pem`,
    });
  }
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new ConfigError(`--cert: ${path} holds a damaged certificate: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function parseKey(path: string, pem: string): KeyObject {
  if (!/-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/.test(pem)) {
    throw new ConfigError(`--key: ${path} holds no private key in PEM form`, {
      hint: pem.includes('-----BEGIN CERTIFICATE-----')
        ? 'it holds a certificate: are --cert and --key swapped?'
        : undefined,
    });
  }
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    throw new ConfigError(`--key: ${path} is encrypted with a passphrase`, {
      hint: `write it out in the clear: openssl pkey -in ${path} -out key.pem && chmod 600 key.pem`,
    });
  }
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new ConfigError(`--key: ${path} holds a damaged private key: ${reasonOf(error)}`, { cause: error });
  }
}

/** In a bundle the server's own certificate must be the first; the usual mistake is that it is not. */
function mismatch(certPath: string, keyPath: string, certPem: string, key: KeyObject): ConfigError {
  const all = certPem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const later = all.slice(1).some((pem) => parseCertificate(certPath, pem).checkPrivateKey(key));
  return new ConfigError(`--key: ${keyPath} does not belong to the certificate in ${certPath}`, {
    hint: later ? `put the server's own certificate first in ${certPath}, its issuers after it` : undefined,
  });
}

const isoOf = (validity: string): string => new Date(validity).toISOString().replace('.000Z', 'Z');

/** The last part of OpenSSL's message, which says the reason. */
const reasonOf = (error: unknown): string => messageOf(error).split(':').at(-1)?.trim() ?? '';
