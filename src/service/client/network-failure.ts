import { isLoopback } from '../../config/base-url.ts';
import { LeadsError } from '../../errors.ts';
import { isClosedOnPlainHttp, isPlainHttpAnswer, TunnelError } from '../../http/problems.ts';
import { answerError, serviceError } from '../problems.ts';
import { TransientError } from './retry.ts';

interface NetworkError {
  readonly name?: string;
  readonly code?: string;
  readonly message: string;
  readonly errors?: readonly NetworkError[];
  readonly cause?: unknown;
}

/** Failures that may pass: the connection was refused, reset, closed or cut off, or took too long. */
const passing: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'],
  ...['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_SOCKET'],
  ...['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_ABORTED', 'Z_BUF_ERROR'],
]);

/** Why a request got no whole answer: a `TransientError` when it may work the next time, an error of ours otherwise. */
export function networkFailure(error: unknown, origin: string): Error {
  if (error instanceof LeadsError || error instanceof TransientError) return error;
  if (error instanceof TunnelError) return tunnelFailure(error);
  const failed = error as NetworkError;
  const { message: why } = failed;
  const code = codeOf(failed);
  const details = { cause: error };
  const proxied = /^Proxy response \((\d+)\)/.exec(why)?.[1];
  if (proxied !== undefined) {
    const failure = serviceError({ kind: 'proxy-refuses', origin, status: proxied }, details);
    return passes(Number(proxied)) ? new TransientError(failure) : failure;
  }
  if (passing.has(code)) {
    const mayBeTls = origin.startsWith('http:') && isClosedOnPlainHttp(code);
    return new TransientError(serviceError({ kind: 'unreachable', origin, code, mayBeTls }, details));
  }
  if (code === 'ENOTFOUND') return serviceError({ kind: 'no-such-host', origin }, details);
  if (isPlainHttpAnswer(why)) {
    const isHere = isLoopback(new URL(origin).hostname);
    return serviceError({ kind: 'answers-in-plain-http', origin, isLoopback: isHere }, details);
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL|EPROTO/.test(code))
    return serviceError({ kind: 'unsafe-connection', origin, why }, details);
  if (/^Z_|BROTLI|^ERR__ERROR_FORMAT/.test(code))
    return answerError({ kind: 'broken-compression', origin, why }, details);
  // undici's parser does not know the codes of all that it finds.
  if (failed.name === 'HTTPParserError' || /^(HPE_|UND_ERR_HEADERS_OVERFLOW|ERR_)/.test(code))
    return answerError({ kind: 'no-proper-http', origin, why }, details);
  // An error without a code comes neither from undici nor from the network: it is a bug.
  return code === '' ? (error as Error) : serviceError({ kind: 'connection-failed', origin, why }, details);
}

/** The proxy cannot be reached, or gives no answer. */
function tunnelFailure(error: TunnelError): Error {
  const { proxy, cause } = error;
  const code = codeOf(cause);
  const failure = serviceError(
    { kind: 'proxy-unreachable', proxy, code, why: cause.message },
    { cause: error },
  );
  return passing.has(code) ? new TransientError(failure) : failure;
}

const codeOf = (failed: NetworkError): string =>
  failed.code ?? failed.errors?.[0]?.code ?? (failed.cause as NetworkError | undefined)?.code ?? '';

/** 408, 425, 429 and server errors pass; what the server does not implement does not. */
export const passes = (status: number): boolean =>
  status === 408 ||
  status === 425 ||
  status === 429 ||
  (status >= 500 && ![501, 505, 506, 508, 510, 511].includes(status));
