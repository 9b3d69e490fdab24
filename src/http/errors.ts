import { ConfigError, type Problem, UsageError } from '../errors.ts';

export const invalidProxy = (variable: string) =>
  new ConfigError(`${variable} is not the URL of an http:// or https:// proxy`);

/** The error for a socket that could not be opened. `option`: the one that names both host and port, where the run has such. */
export function listenError(
  cause: NodeJS.ErrnoException,
  host: string,
  port: number,
  option?: string,
): ConfigError | UsageError {
  const { code = '' } = cause;
  const portOption = option ?? 'port';
  if (code === 'EADDRINUSE') {
    return new ConfigError(`${host}:${port} is in use by another program`, {
      hint: (front) =>
        `give another ${front.option(portOption)}, or ${front.option(portOption, '0')} for any that is free`,
      cause,
    });
  }
  if (code === 'EACCES') {
    return new ConfigError(`no permission to listen on ${host}:${port}`, {
      hint: (front) => `ports below 1024 are the system’s: give another ${front.option(portOption)}`,
      cause,
    });
  }
  if (foreignAddress.has(code)) {
    return new UsageError(`'${host}' is not an address of this machine`, {
      option: option ?? 'host',
      hint: '127.0.0.1 is reached from this machine only, 0.0.0.0 from everywhere',
      cause,
    });
  }
  return new ConfigError(`cannot listen on ${host}:${port}: ${cause.message}`, { cause });
}

const foreignAddress: ReadonlySet<string> = new Set([
  ...['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL', 'EAFNOSUPPORT'],
]);

const handshakeFailures = {
  'client-speaks-no-tls': 'plain HTTP on the HTTPS port',
  'client-distrusts-certificate': 'the client does not trust this certificate',
  'client-left-handshake': 'the client went away at the TLS handshake: it may not trust this certificate',
  'client-speaks-old-tls': 'the client speaks no TLS 1.2 or 1.3',
  'client-speaks-no-http1': 'the client speaks no HTTP/1.1',
  'handshake-failed': 'the TLS handshake failed',
  'connection-not-accepted': 'a connection could not be accepted',
} as const;

export type HandshakeFailure = keyof typeof handshakeFailures;

export const handshakeProblem = (kind: HandshakeFailure): Problem => ({
  kind,
  message: handshakeFailures[kind],
});

/** The failure by the code of OpenSSL or node; undefined where the connection broke, which says nothing of the handshake. */
export function handshakeFailure(code: string): HandshakeFailure | undefined {
  if (code === 'ERR_SSL_HTTP_REQUEST') return 'client-speaks-no-tls';
  if (/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED)/.test(code)) {
    return 'client-distrusts-certificate';
  }
  if (/UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|UNKNOWN_PROTOCOL/.test(code)) return 'client-speaks-old-tls';
  if (/NO_APPLICATION_PROTOCOL/.test(code)) return 'client-speaks-no-http1';
  if (/^(ECONNRESET|EPIPE|ERR_TLS_HANDSHAKE_TIMEOUT|ERR_STREAM_DESTROYED)$/.test(code)) return undefined;
  return 'handshake-failed';
}

/** Both have the codes that undici gives for the same. */
export const connectTimeout = (): Error =>
  Object.assign(new Error('Connect Timeout Error'), { code: 'UND_ERR_CONNECT_TIMEOUT' });

export const tunnelTimeout = (): Error =>
  Object.assign(new Error('the proxy opened no tunnel in time'), { code: 'UND_ERR_HEADERS_TIMEOUT' });

export class TunnelRefusedError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the proxy answered ${status} to CONNECT`);
    this.status = status;
  }
}

export class TunnelError extends Error {
  readonly proxy: string;
  override readonly cause: Error;

  constructor(proxy: string, cause: Error) {
    super(cause.message, { cause });
    this.proxy = proxy;
    this.cause = cause;
  }
}

/** The code of a request that was answered `100 Continue`. */
export const unaskedContinue = 'UNASKED_CONTINUE';

/** Whether a TLS handshake failed because the answer was plain HTTP: this is all that OpenSSL says about it. */
export const isPlainHttpAnswer = (message: string): boolean => /wrong version number/i.test(message);

/** Whether a connection without TLS was closed without an answer, as servers do that expect TLS. */
export const isClosedOnPlainHttp = (code: string): boolean =>
  code === 'ECONNRESET' || code === 'UND_ERR_SOCKET';
