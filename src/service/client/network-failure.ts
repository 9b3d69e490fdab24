import { isLoopback } from '../../config/base-url.ts';
import { DataError, LeadsError, ServiceError } from '../../errors.ts';
import type { Hint } from '../../front.ts';
import {
  isClosedOnPlainHttp,
  isPlainHttpAnswer,
  TunnelError,
  TunnelRefusedError,
} from '../../http/errors.ts';

/** A failure that the same request may not meet once more. */
export class TransientError extends Error {
  readonly failure: LeadsError;
  readonly waitMs: number | undefined;

  constructor(failure: LeadsError, waitMs?: number) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.waitMs = waitMs;
  }
}

/** 408, 425, 429 and server errors pass; what the server does not implement does not. */
export const passes = (status: number): boolean =>
  status === 408 ||
  status === 425 ||
  status === 429 ||
  (status >= 500 && ![501, 505, 506, 508, 510, 511].includes(status));

/** Whether a service may have failed for the size of the page. */
export const isOverload = ({ status, kind }: Pick<LeadsError, 'status' | 'kind'>): boolean =>
  status === 500 || kind === 'timed-out';

const noSuchHost = 'there is no such host';

const passing: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'the network is unreachable',
  EAI_AGAIN: 'its name could not be looked up',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer came in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
  UND_ERR_ABORTED: 'the connection was closed before the answer was complete',
  HPE_INVALID_EOF_STATE: 'the answer was cut off',
  Z_BUF_ERROR: 'the answer was cut off',
};

const proxyHint = 'see HTTPS_PROXY and NO_PROXY';

interface NetworkError {
  readonly name?: string;
  readonly code?: string;
  readonly message: string;
  readonly errors?: readonly NetworkError[];
  readonly cause?: unknown;
}

/** Why a request got no whole answer: a `TransientError` when it may work the next time, an error of ours otherwise. */
export function networkFailure(thrown: unknown, origin: string): Error {
  if (thrown instanceof LeadsError || thrown instanceof TransientError) return thrown;
  if (thrown instanceof TunnelError) return tunnelFailure(thrown);
  if (thrown instanceof TunnelRefusedError) {
    const message = `the proxy does not connect to ${origin} (${thrown.status})`;
    const failure = new ServiceError(message, { hint: proxyHint, cause: thrown });
    return passes(thrown.status) ? new TransientError(failure) : failure;
  }
  const error = thrown as Error & NetworkError;
  const { message, name } = error;
  const cause = error;
  // undici's parser does not know the codes of all that it finds.
  const isCut = name === 'HTTPParserError' && message.endsWith('(Invalid EOF state)');
  const code = isCut ? 'HPE_INVALID_EOF_STATE' : codeOf(error);
  const reason = passing[code];
  if (reason !== undefined) return new TransientError(unreachable(origin, code, reason, cause));
  if (code === 'ENOTFOUND')
    return new ServiceError(`cannot reach ${origin}: ${noSuchHost}`, {
      hint: (front) => `check the base URL: ${front.get('base-url')}`,
      cause,
    });
  if (isPlainHttpAnswer(message))
    return new ServiceError(`cannot reach ${origin}: the server speaks plain HTTP`, {
      hint: isLoopback(new URL(origin).hostname)
        ? `use ${origin.replace('https:', 'http:')}`
        : 'is that the port for HTTPS? An API key goes over plain HTTP to loopback addresses only',
      cause,
    });
  const unsafe = origin.startsWith('https:') ? unsafeConnection(origin, code, error) : undefined;
  if (unsafe !== undefined) return unsafe;
  if (/^Z_|BROTLI|^ERR__ERROR_FORMAT/.test(code))
    return new DataError(`${origin} sent a compressed answer that is broken: ${message}`, { cause });
  if (name === 'HTTPParserError' || /^(HPE_|UND_ERR_HEADERS_OVERFLOW|ERR_)/.test(code))
    return new DataError(`${origin} does not answer in proper HTTP: ${message}`, { cause });
  // An error without a code comes neither from undici nor from the network: it is a bug.
  return code === '' ? error : new ServiceError(`cannot reach ${origin}: ${message}`, { cause });
}

function unreachable(origin: string, code: string, reason: string, cause: unknown): ServiceError {
  const mayBeTls = origin.startsWith('http:') && isClosedOnPlainHttp(code);
  return new ServiceError(`cannot reach ${origin}: ${reason}`, {
    kind: code.includes('TIMEOUT') ? 'timed-out' : 'unreachable',
    hint: (front) =>
      mayBeTls
        ? `is it up, and is it plain HTTP? If not, use ${origin.replace('http:', 'https:')}`
        : `is it up, and is the base URL right? See ${front.get('base-url')}`,
    cause,
  });
}

function tunnelFailure(error: TunnelError): Error {
  const { proxy, cause } = error;
  const code = codeOf(cause);
  const reason = passing[code] ?? (code === 'ENOTFOUND' ? noSuchHost : cause.message);
  const failure = new ServiceError(`cannot reach the proxy ${proxy}: ${reason}`, {
    hint: proxyHint,
    cause: error,
  });
  return code in passing ? new TransientError(failure) : failure;
}

function codeOf({ message, code, errors, cause }: NetworkError): string {
  // node says no more where the other side closes the connection.
  if (message === 'socket hang up' || message === 'aborted') return 'UND_ERR_SOCKET';
  return code ?? errors?.[0]?.code ?? (cause as NetworkError | undefined)?.code ?? '';
}

interface FailedHandshake {
  readonly message: string;
  /** The bytes that were no HTTP: `data` in an error of undici, `rawPacket` in one of node. */
  readonly data?: unknown;
  readonly rawPacket?: Buffer;
  readonly otherNames?: string;
  readonly cert?: { readonly subjectaltname?: string; readonly subject?: { readonly CN?: unknown } };
}

type TlsRow = readonly [pattern: RegExp, sentence: (reason: string, hosts: string) => string, hint?: Hint];

const unknownAuthority = /self signed|unable to (get issuer|get local issuer|verify leaf)|cert untrusted/;
const otherHost: TlsRow = [
  /cert altname invalid/,
  (_, hosts) => `its certificate is for another host: ${hosts}`,
  (front) => `check the base URL: ${front.get('base-url')}`,
];
const onlyHttp2: TlsRow = [
  /no application protocol/,
  () => 'it speaks HTTP/2 only, and leads speaks HTTP/1.1',
];

/** By the codes of OpenSSL, which are its messages in other letters, and those of node; the first that fits counts. */
const tlsFailures: readonly TlsRow[] = [
  [
    /cert has expired|alert certificate expired/,
    () => 'its certificate has expired',
    "its operator must renew it, unless this machine's clock is wrong",
  ],
  [/cert not yet valid/, () => 'its certificate is not valid yet', "check this machine's clock"],
  otherHost,
  [
    unknownAuthority,
    (reason) => `its certificate comes from an unknown authority (${reason})`,
    'if that is a private authority, name its certificate in NODE_EXTRA_CA_CERTS',
  ],
  [
    /alert protocol version|unsupported protocol|version too low|ssl choose client/,
    () => 'it speaks neither TLS 1.2 nor TLS 1.3',
  ],
  onlyHttp2,
  [
    /alert (certificate required|bad certificate)/,
    () => 'it asks for a certificate of the client, which leads does not have',
  ],
  [
    /alert (handshake failure|internal error|unrecognized name)|no shared cipher|no ciphers/,
    (reason) => `it refused the TLS handshake (${reason})`,
  ],
  [/\b(cert|tls|ssl|eproto|unable to)\b/, (reason) => reason],
];

export function unsafeConnection(
  origin: string,
  code: string,
  failed: FailedHandshake,
): ServiceError | undefined {
  const { message, otherNames, cert } = failed;
  const plain = `${code} ${message}`.toLowerCase().replace(/[_-]/g, ' ');
  const isElsewhere = otherNames !== undefined && unknownAuthority.test(plain);
  const row = isHttp2(failed)
    ? onlyHttp2
    : isElsewhere
      ? otherHost
      : tlsFailures.find(([pattern]) => pattern.test(plain));
  if (row === undefined) return undefined;
  const [, sentence, hint] = row;
  const reason = /SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] ?? message;
  const hosts = (otherNames ?? cert?.subjectaltname ?? String(cert?.subject?.CN))
    .replace(/\b(DNS|IP Address):/g, '')
    .slice(0, 200);
  return new ServiceError(`cannot reach ${origin} safely: ${sentence(reason, hosts)}`, {
    hint,
    cause: failed instanceof Error ? failed : undefined,
  });
}

/** A server that speaks HTTP/2 whatever the client offers begins with a frame of settings (RFC 9113, section 3.4). */
function isHttp2({ rawPacket, data = rawPacket?.toString('latin1') }: FailedHandshake): boolean {
  return typeof data === 'string' && data.startsWith('\0') && data[3] === '\u0004';
}
