import type { TlsProblem } from '../tls/problems.ts';
import type { Messages, Words } from './message.ts';
import type { TlsCause } from '../service/problems.ts';

const both = (words: Words): string => `${words.option('cert')} and ${words.option('key')}`;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
};

export const tlsMessages: Messages<TlsProblem> = {
  'unreadable-pem': ({ file, path, code, reason }) => ({
    option: file,
    message: `cannot read ${path}: ${reasons[code ?? ''] ?? reason}`,
  }),
  'no-certificate': ({ path, isSwapped }) => ({
    option: 'cert',
    message: `${path} holds no certificate in PEM form`,
    hint: (words) =>
      isSwapped
        ? `it holds a private key: are ${both(words)} swapped?`
        : `if it is DER: openssl x509 -inform der -in ${path} -out cert.pem`,
  }),
  'no-private-key': ({ path, isSwapped }) => ({
    option: 'key',
    message: `${path} holds no private key in PEM form`,
    hint: (words) => (isSwapped ? `it holds a certificate: are ${both(words)} swapped?` : undefined),
  }),
  'damaged-pem': ({ file, path, reason }) => ({
    option: file,
    message: `${path} holds a damaged ${file === 'cert' ? 'certificate' : 'private key'}: ${reason}`,
  }),
  'encrypted-key': ({ path }) => ({
    option: 'key',
    message: `${path} is encrypted with a passphrase`,
    hint: () => `write it out in the clear: openssl pkey -in ${path} -out key.pem && chmod 600 key.pem`,
  }),
  'key-of-another-certificate': ({ certPath, keyPath, isLater }) => ({
    option: 'key',
    message: `${keyPath} does not belong to the certificate in ${certPath}`,
    // The usual mistake in a bundle.
    hint: () =>
      isLater ? `put the server's own certificate first in ${certPath}, its issuers after it` : undefined,
  }),
  'expired-certificate': ({ path, at }) => ({
    option: 'cert',
    message: `${path} expired on ${at}`,
    hint: (words) => `renew it, or leave ${both(words)} out to use the local authority`,
  }),
  'early-certificate': ({ path, at }) => ({
    option: 'cert',
    message: `${path} is not valid before ${at}`,
    hint: () => "check this machine's clock",
  }),
  'unusable-certificate': ({ path, reason }) => ({
    option: 'cert',
    message: `${path} cannot be used for TLS: ${reason}`,
  }),
  'inaccessible-authority': ({ directory, reason }) => ({
    message: `the local certificates in ${directory} cannot be used: ${reason}`,
    hint: (words) => `set LEADS_DATA_DIR to a directory that can be written, or give ${both(words)}`,
  }),
  'damaged-authority': ({ directory, reason }) => ({
    message: `the local authority in ${directory} is damaged: ${reason === 'mismatch' ? 'ca.pem and ca-key.pem do not belong together' : reason}`,
    hint: () => 'remove that directory to have a new one made',
  }),
};

/** The sentence of each cause; `detail` is that of a `TlsFailure`. */
export const tlsCauses: Readonly<Record<TlsCause, (detail: string) => string>> = {
  expired: () => 'its certificate has expired',
  'not-yet-valid': () => 'its certificate is not valid yet',
  'other-host': (hosts) => `its certificate is for another host: ${hosts}`,
  'unknown-authority': (detail) => `its certificate comes from an unknown authority (${detail})`,
  'old-protocol': () => 'it speaks neither TLS 1.2 nor TLS 1.3',
  'no-http1': () => 'it speaks HTTP/2 only, and leads speaks HTTP/1.1',
  'client-certificate': () => 'it asks for a certificate of the client, which leads does not have',
  handshake: (detail) => `it refused the TLS handshake (${detail})`,
  other: (detail) => detail,
};

/** Only where one helps. */
export const tlsHints: Readonly<Partial<Record<TlsCause, (words: Words) => string>>> = {
  expired: () => "its operator must renew it, unless this machine's clock is wrong",
  'not-yet-valid': () => "check this machine's clock",
  'other-host': (words) => `check the base URL: ${words.quoted(words.get('base-url'))}`,
  'unknown-authority': (words) =>
    `if that is a private authority, name its certificate in ${words.environment('NODE_EXTRA_CA_CERTS')}`,
};
