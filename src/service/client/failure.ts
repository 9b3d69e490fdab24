import { DataError, KeyRejectedError, LeadsError, ServiceError } from '../../errors.ts';
import { isLoopback } from '../../config/base-url.ts';
import { loginCommand } from '../../config/login-command.ts';
import { isClosedOnPlainHttp, isPlainHttpAnswer, TunnelError } from '../../http/problems.ts';
import { TransientError } from './retry.ts';

interface NetworkError {
  readonly name?: string;
  readonly code?: string;
  readonly message: string;
  readonly errors?: readonly NetworkError[];
  readonly cause?: unknown;
}

const reasons: Readonly<Record<string, string>> = {
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
  Z_BUF_ERROR: 'the answer was cut off',
};

/** Why a request got no whole answer: a `TransientError` when it may work the next time, an error of ours otherwise. */
export function networkFailure(error: unknown, origin: string): Error {
  if (error instanceof LeadsError || error instanceof TransientError) return error;
  if (error instanceof TunnelError) return tunnelFailure(error);
  const failed = error as NetworkError;
  const code = codeOf(failed);
  const proxied = /^Proxy response \((\d+)\)/.exec(failed.message)?.[1];
  if (proxied !== undefined) {
    const failure = new ServiceError(`the proxy does not connect to ${origin} (${proxied})`, {
      cause: error,
      hint: 'see HTTPS_PROXY and NO_PROXY',
    });
    return passes(Number(proxied)) ? new TransientError(failure) : failure;
  }
  const reason = reasons[code];
  if (reason !== undefined) {
    const mayBeTls = origin.startsWith('http:') && isClosedOnPlainHttp(code);
    return new TransientError(
      new ServiceError(`cannot reach ${origin}: ${reason}`, {
        cause: error,
        hint: mayBeTls
          ? `is it up, and is it plain HTTP? If not, use ${origin.replace('http:', 'https:')}`
          : "is it up, and is the base URL right? See 'leads config get base-url'",
      }),
    );
  }
  if (code === 'ENOTFOUND') {
    return new ServiceError(`cannot reach ${origin}: there is no such host`, {
      cause: error,
      hint: "check the base URL: 'leads config get base-url'",
    });
  }
  if (isPlainHttpAnswer(failed.message)) {
    return new ServiceError(`cannot reach ${origin}: the server speaks plain HTTP`, {
      cause: error,
      hint: isLoopback(new URL(origin).hostname)
        ? `use ${origin.replace('https:', 'http:')}`
        : 'is that the port for HTTPS? An API key goes over plain HTTP to loopback addresses only',
    });
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL|EPROTO/.test(code)) {
    return new ServiceError(`cannot reach ${origin} safely: ${failed.message}`, {
      cause: error,
      hint: 'if its authority is a private one, name its certificate in NODE_EXTRA_CA_CERTS',
    });
  }
  if (/^Z_|BROTLI|^ERR__ERROR_FORMAT/.test(code)) {
    return new DataError(`${origin} sent a compressed answer that is broken: ${failed.message}`, {
      cause: error,
    });
  }
  // undici's parser does not know the codes of all that it finds.
  if (failed.name === 'HTTPParserError' || /^(HPE_|UND_ERR_HEADERS_OVERFLOW|ERR_)/.test(code)) {
    return new DataError(`${origin} does not answer in proper HTTP: ${failed.message}`, { cause: error });
  }
  // An error without a code comes neither from undici nor from the network: it is a bug.
  return code === ''
    ? (error as Error)
    : new ServiceError(`cannot reach ${origin}: ${failed.message}`, { cause: error });
}

/** The proxy cannot be reached, or gives no answer. */
function tunnelFailure(error: TunnelError): Error {
  const { proxy, cause } = error;
  const code = codeOf(cause);
  const reason = code === 'ENOTFOUND' ? 'there is no such host' : reasons[code];
  const failure = new ServiceError(`cannot reach the proxy ${proxy}: ${reason ?? cause.message}`, {
    cause: error,
    hint: 'see HTTPS_PROXY and NO_PROXY',
  });
  return code in reasons ? new TransientError(failure) : failure;
}

const codeOf = (failed: NetworkError): string =>
  failed.code ?? failed.errors?.[0]?.code ?? (failed.cause as NetworkError | undefined)?.code ?? '';

/** 408, 425, 429 and server errors pass; what the server does not implement does not. */
const passes = (status: number): boolean =>
  status === 408 ||
  status === 425 ||
  status === 429 ||
  (status >= 500 && ![501, 505, 506, 508, 510, 511].includes(status));

export interface Rejection {
  readonly profile: string | undefined;
  readonly status: number;
  /** The body's `error` and `message` (specification, section 7), if it had them. */
  readonly error: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
  readonly waitMs: number | undefined;
  /** Some services limit the rate with 403. */
  readonly isRateLimit: boolean;
  /** The key is what `api-key-command` printed. */
  readonly keyIsFromCommand: boolean;
}

/** An answer with an error status, in one line. */
export function rejectionFailure(rejection: Rejection): LeadsError | TransientError {
  const { status, error, message, requestId, waitMs, isRateLimit } = rejection;
  const reason = message ?? error;
  const why = reason === undefined ? '' : `: ${reason}${message && error ? ` (${error})` : ''}`;
  const details = { status, requestId };
  if (status === 401 || (status === 403 && !isRateLimit)) {
    return new KeyRejectedError(`the service refused the API key (${status})${why}`, {
      ...details,
      hint: rejection.keyIsFromCommand
        ? "it is what api-key-command printed: 'leads config get api-key-command'"
        : `store another key with '${loginCommand(rejection.profile)}', or check LEADS_API_KEY`,
    });
  }
  const text =
    status === 429 || isRateLimit
      ? `the service limits the rate (${status})${why}`
      : `the service answered ${status}${why}`;
  if (passes(status) || isRateLimit) return new TransientError(new ServiceError(text, details), waitMs);
  if (status >= 500) return new ServiceError(text, details);
  return new DataError(text, {
    ...details,
    hint:
      status === 404 || status === 405
        ? "the list operation may have another path: 'leads config set api.path /…'"
        : undefined,
  });
}
