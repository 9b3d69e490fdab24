/** Why no safe connection came about. */
export type TlsCause =
  | 'expired'
  | 'not-yet-valid'
  | 'other-host'
  | 'unknown-authority'
  | 'old-protocol'
  | 'no-http1'
  | 'client-certificate'
  | 'handshake'
  | 'other';

export interface TlsFailure {
  readonly cause: TlsCause;
  /** The hosts of the certificate, or what the library says, without its own places. */
  readonly detail: string;
}

interface FailedConnection {
  readonly message: string;
  /** What the HTTP parser got. */
  readonly data?: unknown;
  readonly otherNames?: string;
  readonly cert?: { readonly subjectaltname?: string };
}

/** Codes of OpenSSL's verification, and what its messages have in common in all versions; the first that fits counts. */
const causes: readonly (readonly [cause: TlsCause, pattern: RegExp])[] = [
  ['expired', /CERT_HAS_EXPIRED|alert certificate expired/],
  ['not-yet-valid', /CERT_NOT_YET_VALID/],
  ['other-host', /ERR_TLS_CERT_ALTNAME_INVALID/],
  [
    'unknown-authority',
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|CERT_UNTRUSTED|unable to get local issuer/,
  ],
  [
    'old-protocol',
    /alert protocol version|unsupported protocol|version too low|UNSUPPORTED_PROTOCOL|ssl_choose_client/,
  ],
  ['no-http1', /no application protocol/],
  ['client-certificate', /alert (certificate required|bad certificate)/],
  ['handshake', /alert (handshake failure|internal error|unrecognized name)|no shared cipher|no ciphers/],
  ['other', /CERT|TLS|SSL|EPROTO|UNABLE_TO/],
];

/** Undefined for a failure that is not about TLS. */
export function tlsFailureOf(code: string, failed: FailedConnection): TlsFailure | undefined {
  const { message, otherNames } = failed;
  const cause = isHttp2(failed)
    ? 'no-http1'
    : causes.find(([, pattern]) => pattern.test(`${code} ${message}`))?.[0];
  if (cause === undefined) return undefined;
  if (cause === 'unknown-authority' && otherNames !== undefined)
    return { cause: 'other-host', detail: hosts(otherNames) };
  if (cause === 'other-host') return { cause, detail: hosts(failed.cert?.subjectaltname ?? 'no host') };
  return { cause, detail: /SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] ?? message };
}

/** `DNS:a.example, IP Address:10.0.0.1` as `a.example, 10.0.0.1`. */
const hosts = (names: string): string => names.replace(/\b(DNS|IP Address):/g, '').slice(0, 200);

/** A server that speaks HTTP/2 whatever the client offers begins with a frame of settings (RFC 9113, section 3.4). */
const isHttp2 = ({ data }: FailedConnection): boolean =>
  typeof data === 'string' && data.startsWith('\0') && data[3] === '\u0004';
