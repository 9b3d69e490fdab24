import { ConfigError } from '../errors.ts';
import { systemReason, unreadable } from '../files/errors.ts';
import type { Front } from '../front.ts';

export type PemOption = 'cert' | 'key';

const pemNames = { cert: 'certificate', key: 'private key' } as const;

const bothOptions = (front: Front): string => `${front.option('cert')} and ${front.option('key')}`;

export const unreadablePem = (option: PemOption, path: string, cause: unknown) =>
  new ConfigError(unreadable(path, cause), { option, cause });

export const noCertificate = (path: string, holdsKey: boolean) =>
  new ConfigError(`${path} holds no certificate in PEM form`, {
    option: 'cert',
    hint: (front) =>
      holdsKey
        ? `it holds a private key: are ${bothOptions(front)} swapped?`
        : `if it is DER: openssl x509 -inform der -in ${path} -out cert.pem`,
  });

export const noPrivateKey = (path: string, holdsCertificate: boolean) =>
  new ConfigError(`${path} holds no private key in PEM form`, {
    option: 'key',
    hint: (front) =>
      holdsCertificate ? `it holds a certificate: are ${bothOptions(front)} swapped?` : undefined,
  });

export const damagedPem = (option: PemOption, path: string, reason: string, cause: unknown) =>
  new ConfigError(`${path} holds a damaged ${pemNames[option]}: ${reason}`, { option, cause });

export const encryptedKey = (path: string) =>
  new ConfigError(`${path} is encrypted with a passphrase`, {
    option: 'key',
    hint: `write it out in the clear: openssl pkey -in ${path} -out key.pem && chmod 600 key.pem`,
  });

/** `isLater` is the usual mistake in a bundle: the key belongs to a later certificate of the file. */
export const keyOfAnotherCertificate = (certPath: string, keyPath: string, isLater: boolean) =>
  new ConfigError(`${keyPath} does not belong to the certificate in ${certPath}`, {
    option: 'key',
    hint: isLater ? `put the server's own certificate first in ${certPath}, its issuers after it` : undefined,
  });

export const expiredCertificate = (path: string, expiry: string) =>
  new ConfigError(`${path} expired on ${expiry}`, {
    option: 'cert',
    hint: (front) => `renew it, or leave ${bothOptions(front)} out to use the local authority`,
  });

export const earlyCertificate = (path: string, start: string) =>
  new ConfigError(`${path} is not valid before ${start}`, {
    option: 'cert',
    hint: "check this machine's clock",
  });

export const unusableCertificate = (path: string, reason: string, cause: unknown) =>
  new ConfigError(`${path} cannot be used for TLS: ${reason}`, { option: 'cert', cause });

export const inaccessibleAuthority = (directory: string, cause: Error) =>
  new ConfigError(`the local certificates in ${directory} cannot be used: ${systemReason(cause)}`, {
    hint: (front) => `set LEADS_DATA_DIR to a directory that can be written, or give ${bothOptions(front)}`,
    cause,
  });

export const damagedAuthority = (directory: string, cause: Error) =>
  new ConfigError(`the local authority in ${directory} is damaged: ${cause.message}`, {
    hint: 'remove that directory to have a new one made',
    cause,
  });
