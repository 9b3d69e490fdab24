import type { TlsProblem } from '../tls/problems.ts';
import type { Messages, Words } from './message.ts';

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
