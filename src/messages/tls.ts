import type { Words } from './message.ts';
import type { TlsCause } from '../service/problems.ts';

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
