/** The proxy opened no tunnel; the cause says why. */
export class TunnelError extends Error {
  /** Host and port of the proxy. */
  readonly proxy: string;
  override readonly cause: Error;

  constructor(proxy: string, cause: Error) {
    super(cause.message, { cause });
    this.proxy = proxy;
    this.cause = cause;
  }
}

/** Whether a TLS handshake failed because the answer was plain HTTP: this is all that OpenSSL says about it. */
export const isPlainHttpAnswer = (message: string): boolean => /wrong version number/i.test(message);

/** Whether a connection without TLS was closed without an answer, as servers do that expect TLS. */
export const isClosedOnPlainHttp = (code: string): boolean =>
  code === 'ECONNRESET' || code === 'UND_ERR_SOCKET';
