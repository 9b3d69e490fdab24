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
  /** The bytes that the HTTP parser could not read. */
  readonly data?: unknown;
  readonly otherNames?: string;
  readonly cert?: { readonly subjectaltname?: string; readonly subject?: { readonly CN?: unknown } };
}

/** Codes of OpenSSL, which are its messages in other letters, and those of node; the first that fits counts. */
const causes: readonly (readonly [cause: TlsCause, pattern: RegExp])[] = [
  ['expired', /cert has expired|alert certificate expired/],
  ['not-yet-valid', /cert not yet valid/],
  ['other-host', /cert altname invalid/],
  ['unknown-authority', /self signed|unable to (get issuer|get local issuer|verify leaf)|cert untrusted/],
  ['old-protocol', /alert protocol version|unsupported protocol|version too low|ssl choose client/],
  ['no-http1', /no application protocol/],
  ['client-certificate', /alert (certificate required|bad certificate)/],
  ['handshake', /alert (handshake failure|internal error|unrecognized name)|no shared cipher|no ciphers/],
  ['other', /\b(cert|tls|ssl|eproto|unable to)\b/],
];

/** Undefined for a failure that is not about TLS. */
export function tlsFailureOf(code: string, failed: FailedConnection): TlsFailure | undefined {
  const { message, otherNames } = failed;
  const plain = `${code} ${message}`.toLowerCase().replace(/[_-]/g, ' ');
  const cause = isHttp2(failed) ? 'no-http1' : causes.find(([, pattern]) => pattern.test(plain))?.[0];
  if (cause === undefined) return undefined;
  if (cause === 'unknown-authority' && otherNames !== undefined)
    return { cause: 'other-host', detail: hosts(otherNames) };
  if (cause === 'other-host')
    return { cause, detail: hosts(failed.cert?.subjectaltname ?? String(failed.cert?.subject?.CN)) };
  return { cause, detail: /SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] ?? message };
}

/** `DNS:a.example, IP Address:10.0.0.1` as `a.example, 10.0.0.1`. */
const hosts = (names: string): string => names.replace(/\b(DNS|IP Address):/g, '').slice(0, 200);

/** A server that speaks HTTP/2 whatever the client offers begins with a frame of settings (RFC 9113, section 3.4). */
const isHttp2 = ({ data }: FailedConnection): boolean =>
  typeof data === 'string' && data.startsWith('\0') && data[3] === '\u0004';
