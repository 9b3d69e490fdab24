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
