import { ConfigError, type LeadsError, UsageError } from '../errors.ts';
import type { Rejection } from '../webhook/delivery-answer.ts';

/** Why no socket could be opened. */
type ListenProblem = {
  readonly kind: 'address-in-use' | 'address-forbidden' | 'address-elsewhere' | 'cannot-listen';
  readonly host: string;
  readonly port: number;
  /** The option of the run that the address came from, where one names both host and port. */
  readonly option: string | undefined;
  /** The system's. */
  readonly reason: string;
};

/** Why a TLS connection ended before a request could be sent. */
export type HandshakeProblem =
  | { readonly kind: 'client-speaks-no-tls' | 'client-distrusts-certificate' | 'client-left-handshake' }
  | { readonly kind: 'client-speaks-old-tls' | 'client-speaks-no-http1' | 'handshake-failed' }
  | { readonly kind: 'connection-not-accepted' };

/** The reasons why a request is rejected before it is a whole delivery. Sizes are in bytes. */
export type RequestProblem =
  | { readonly kind: 'headers-too-many'; readonly most: number }
  | { readonly kind: 'headers-too-large'; readonly most: number }
  | { readonly kind: 'host-repeated' | 'host-missing' | 'content-length-repeated' }
  | { readonly kind: 'transfer-coding-unknown' | 'length-and-transfer-coding' | 'bodies-too-large-together' }
  | { readonly kind: 'chunk-extensions-too-large' | 'answers-not-read' | 'tls-on-plain-port' }
  | { readonly kind: 'expectation-unknown' | 'method-connect' }
  | { readonly kind: 'body-too-large'; readonly most: number }
  /** `length`: undefined where it was not declared. */
  | { readonly kind: 'body-cut-off'; readonly received: number; readonly length: number | undefined }
  /** `why`: in the words of node's parser. */
  | { readonly kind: 'not-http'; readonly why: string }
  | { readonly kind: 'request-too-slow'; readonly seconds: number };

/** A request that is rejected before it is a whole delivery: by what checks its head in a sentence already. */
export type RequestRejection = Rejection<RequestProblem | string>;

/** `variable`: of the environment. */
type ProxyProblem = {
  readonly kind: 'invalid-proxy';
  readonly variable: string;
};

/** Why a request of ours failed, where it is not the system or TLS that says so. */
export type ExchangeProblem =
  | { readonly kind: 'answer-no-http' | 'answer-headers-too-large' | 'answer-header-malformed' }
  | { readonly kind: 'answer-length-malformed' | 'answer-line-too-long' }
  | { readonly kind: 'answer-chunk-too-long' | 'answer-chunk-without-size' | 'tunnel-too-slow' }
  | { readonly kind: 'tunnel-refused'; readonly status: number }
  | { readonly kind: 'header-unsendable'; readonly name: string };

/** With the code that node gives for the same, where it has one. */
export class ExchangeError extends Error {
  readonly problem: ExchangeProblem;
  readonly code: string | undefined;

  constructor(problem: ExchangeProblem, code?: string) {
    super(problem.kind);
    this.problem = problem;
    this.code = code;
  }
}

export type HttpProblem = ListenProblem | HandshakeProblem | RequestProblem | ProxyProblem | ExchangeProblem;

export function invalidProxy(variable: string): ConfigError {
  const problem: ProxyProblem = { kind: 'invalid-proxy', variable };
  return new ConfigError(problem);
}

export function listenError(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
  option?: string,
): LeadsError {
  const kind = listenProblems[error.code ?? ''] ?? 'cannot-listen';
  const problem: ListenProblem = { kind, host, port, option, reason: error.message };
  const ErrorClass = kind === 'address-elsewhere' ? UsageError : ConfigError;
  return new ErrorClass(problem, { cause: error });
}

const listenProblems: Readonly<Record<string, ListenProblem['kind']>> = {
  EADDRINUSE: 'address-in-use',
  EACCES: 'address-forbidden',
  EADDRNOTAVAIL: 'address-elsewhere',
  ENOTFOUND: 'address-elsewhere',
  EAI_AGAIN: 'address-elsewhere',
  EINVAL: 'address-elsewhere',
  EAFNOSUPPORT: 'address-elsewhere',
};

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
