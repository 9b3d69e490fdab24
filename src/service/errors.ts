import {
  ConfigError,
  DataError,
  type ErrorDetails,
  KeyRejectedError,
  type LeadsError,
  type Problem,
  ServiceError,
} from '../errors.ts';
import { type Front, loginCommand } from '../front.ts';
import { otherPlace } from '../json/errors.ts';
import { formatDuration } from '../time/time-text.ts';

/** The response that an error is about. */
type ResponseDetails = Pick<ErrorDetails, 'cause' | 'status' | 'requestId'>;

/** The codes of node and undici. */
const networkFailures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'the network is unreachable',
  EAI_AGAIN: 'its name could not be looked up',
  ENOTFOUND: 'there is no such host',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer came in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
  UND_ERR_ABORTED: 'the connection was closed before the answer was complete',
  HPE_INVALID_EOF_STATE: 'the answer was cut off',
  Z_BUF_ERROR: 'the answer was cut off',
};

const quotedBaseUrl = (front: Front): string => front.quoted(front.get('base-url'));

/** `code`: one of `networkFailures`. `mayBeTls`: the server may expect HTTPS. */
export const unreachable = (origin: string, code: string, mayBeTls: boolean, cause?: unknown) =>
  new ServiceError(`cannot reach ${origin}: ${networkFailures[code] ?? code}`, {
    kind: code.includes('TIMEOUT') ? 'timed-out' : 'unreachable',
    hint: (front) =>
      mayBeTls
        ? `is it up, and is it plain HTTP? If not, use ${origin.replace('http:', 'https:')}`
        : `is it up, and is the base URL right? See ${quotedBaseUrl(front)}`,
    cause,
  });

export const noSuchHost = (origin: string, cause: unknown) =>
  new ServiceError(`cannot reach ${origin}: there is no such host`, {
    hint: (front) => `check the base URL: ${quotedBaseUrl(front)}`,
    cause,
  });

export const answersInPlainHttp = (origin: string, isLoopback: boolean, cause: unknown) =>
  new ServiceError(`cannot reach ${origin}: the server speaks plain HTTP`, {
    hint: isLoopback
      ? `use ${origin.replace('https:', 'http:')}`
      : 'is that the port for HTTPS? An API key goes over plain HTTP to loopback addresses only',
    cause,
  });

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

const tlsFailures: Readonly<Record<TlsCause, (detail: string) => string>> = {
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

const tlsHints: Readonly<Partial<Record<TlsCause, (front: Front) => string>>> = {
  expired: () => "its operator must renew it, unless this machine's clock is wrong",
  'not-yet-valid': () => "check this machine's clock",
  'other-host': (front) => `check the base URL: ${quotedBaseUrl(front)}`,
  'unknown-authority': (front) =>
    `if that is a private authority, name its certificate in ${front.environment('NODE_EXTRA_CA_CERTS')}`,
};

export const unsafeConnection = (origin: string, { cause, detail }: TlsFailure, error?: unknown) =>
  new ServiceError(`cannot reach ${origin} safely: ${tlsFailures[cause](detail)}`, {
    hint: tlsHints[cause],
    cause: error,
  });

/** `cause`: in the words of a library. */
export const connectionFailed = (origin: string, cause: Error) =>
  new ServiceError(`cannot reach ${origin}: ${cause.message}`, { cause });

const proxyHint = 'see HTTPS_PROXY and NO_PROXY';

export const proxyRefuses = (origin: string, status: number, cause: unknown) =>
  new ServiceError(`the proxy does not connect to ${origin} (${status})`, { hint: proxyHint, cause });

export const proxyUnreachable = (proxy: string, code: string, cause: Error) =>
  new ServiceError(`cannot reach the proxy ${proxy}: ${networkFailures[code] ?? messageBehind(cause)}`, {
    hint: proxyHint,
    cause,
  });

const messageBehind = ({ cause, message }: Error): string =>
  cause instanceof Error ? cause.message : message;

const withReason = (message: string, reason: string | undefined): string =>
  reason === undefined ? message : `${message}: ${reason}`;

/** A response that tells a failure. `reason`: what the service says of it, without secrets. */
interface FailedResponse extends ResponseDetails {
  readonly status: number;
  readonly reason: string | undefined;
}

export const keyRejected = (
  { reason, ...details }: FailedResponse,
  profile: string | undefined,
  isFromCommand: boolean,
) =>
  new KeyRejectedError(withReason(`the service refused the API key (${details.status})`, reason), {
    hint: (front) =>
      isFromCommand
        ? `it is what api-key-command printed: ${front.quoted(front.get('api-key-command'))}`
        : front.otherKey(loginCommand(profile)),
    ...details,
  });

export const rateLimitReached = ({ reason, ...details }: FailedResponse) =>
  new ServiceError(withReason(`the service limits the rate (${details.status})`, reason), {
    kind: 'rate-limited',
    ...details,
  });

/** A gateway, a firewall or a bot check answers in the place of the service. */
export const gatewayRefuses = ({ reason, ...details }: FailedResponse) =>
  new ServiceError(
    withReason(`something in front of the service refuses this machine (${details.status})`, reason),
    {
      hint: 'a gateway or a bot check answered: its operator can let the address of this machine through',
      ...details,
    },
  );

/** `isPassing`: the same request may work the next time. */
export function serviceAnswered({ reason, ...details }: FailedResponse, isPassing: boolean) {
  const { status } = details;
  const ErrorClass = isPassing || status >= 500 ? ServiceError : DataError;
  return new ErrorClass(withReason(`the service answered ${status}`, reason), {
    kind: 'service-answered',
    hint: (front) =>
      status === 404 || status === 405
        ? `the list operation may have another path: ${front.quoted(front.set('api.path', '/…'))}`
        : undefined,
    ...details,
  });
}

export function errorWithStatus200({ reason, ...details }: FailedResponse, isPassing: boolean) {
  const ErrorClass = isPassing ? ServiceError : DataError;
  return new ErrorClass(withReason('the service answered 200 with an error', reason), {
    kind: 'error-with-status-200',
    ...details,
  });
}

export const tooManyRedirects = (limit: number) =>
  new DataError(`the service redirects more than ${limit} times`);

/** `origin` is undefined for what is no proper URL. */
export const redirectsElsewhere = (origin: string | undefined, profile: string | undefined) =>
  new DataError(`the service redirects to ${origin ?? 'no proper URL'}, another origin`, {
    hint: (front) =>
      origin === undefined
        ? undefined
        : `the API key is not sent there; if that is the service: ${front.otherBaseUrl(origin, loginCommand(profile, origin))}`,
  });

export const redirectNotFollowed = (location: string, status: number) =>
  new DataError(`the service redirects to ${location} (${status}), which is not followed`, {
    hint: 'if that is the place that was meant, ask for it',
    status,
  });

export const brokenCompression = (origin: string, cause: Error) =>
  new DataError(`${origin} sent a compressed answer that is broken: ${cause.message}`, { cause });

export const noProperHttp = (origin: string, cause: Error) =>
  new DataError(`${origin} does not answer in proper HTTP: ${cause.message}`, { cause });

export const unknownEncoding = (name: string) => new DataError(`the service encodes its answer as '${name}'`);

export const answerTooSlow = () => new ServiceError('the answer comes too slowly');

export const answerTooLong = (mostBytes: number) =>
  new DataError(`the answer is longer than ${mostBytes / 1024 / 1024} MiB`);

export const answerEmpty = () => new DataError('the answer is empty');

export const answerCutOff = (requestId: string | undefined) =>
  new ServiceError('the answer was cut off', { requestId });

export const answerEndsEarly = (requestId: string | undefined) =>
  new DataError('the answer is not valid JSON: it ends too early, although it came whole', { requestId });

export const answerNotJson = (type: string, requestId: string | undefined) =>
  new DataError(`the service answered with ${type}, not with JSON`, { hint: otherPlace, requestId });

/** `there`: the origin of the next page; undefined for no proper URL. */
export const nextPageElsewhere = (there: string | undefined, origin: string) =>
  new DataError(`the next page lies at ${there ?? 'no proper URL'}, another origin than ${origin}`, {
    hint: (front) =>
      `the API key is not sent there; to go by page numbers: ${front.quoted(front.set('api.pagination', 'page'))}; if another member names the next page: ${front.quoted(front.set('api.next', '/…'))}`,
  });

/** The number may be that of a page or of records. */
export const nextNumberUnclear = (value: number) =>
  new DataError(`the service names ${value} as the next, which may be a page or a number of leads`, {
    hint: (front) =>
      `name its parameter: ${front.quoted(front.set('api.params.page', 'page'))} or ${front.quoted(front.set('api.params.offset', 'offset'))}`,
  });

export const positionElsewhere = (origin: string) =>
  new DataError(`the page to go on with lies at ${origin}, another origin`);

export const positionReadBefore = () =>
  new DataError('the service names a page as the next one that was read before', {
    kind: 'position-read-before',
    hint: howToSet,
  });

/** The failure of the last of several requests. */
export function gaveUp(failure: LeadsError, tries: number) {
  const ErrorClass = failure instanceof DataError ? DataError : ServiceError;
  const { status, requestId, details } = failure;
  return new ErrorClass(`${failure.message} (tried ${tries} times)`, {
    ...{ hint: details.hint, status, requestId },
    cause: failure,
  });
}

/** The service asked to wait for longer than a run may take. */
export class ComeBackError extends ServiceError {
  readonly waitMs: number;

  /** `end`: when the wait is over, in milliseconds since the epoch. */
  constructor(failure: LeadsError, waitMs: number, end: number) {
    // An absurd value may name a time that no calendar has.
    const time = end < 8.64e15 ? `at ${new Date(end).toISOString().replace(/\.\d+/, '')}` : 'later';
    super(`${failure.message}; it asks to come back in ${formatDuration(waitMs)}`, {
      hint: `try again ${time}`,
      status: failure.status,
      requestId: failure.requestId,
      cause: failure,
    });
    this.waitMs = waitMs;
  }
}

/** The text of a setting is neither `auto` nor a JSON Pointer. */
export const noPointer = (setting: string, text: string, example: string) =>
  new ConfigError(`${setting} is '${text}', which is neither 'auto' nor a JSON Pointer such as ${example}`);

/** Parameters that some services have, so that a hint can be followed as it stands. */
const otherParams = (front: Front): string =>
  [front.set('api.params.page', 'pageNo'), front.set('api.params.offset', 'from')]
    .map((text) => front.quoted(text))
    .join(' or ');

export const howToSet = (front: Front): string =>
  [front.learning, `if you know the parameter that it pages by, as in ${otherParams(front)}`]
    .filter((text) => text !== undefined)
    .join('; ');

/** Leads come whose status is another one than was asked for. */
export const otherStatus = (field: string, status: string, askedStatus: string): Problem => ({
  kind: 'other-status',
  message: `the service also lists leads with ${field} '${status}'`,
  hint: (front) => `to narrow here: ${front.option('where', `${field}=${askedStatus}`)}`,
});

/** `api.pagination none` says that one page is everything, and `reason` speaks against it. */
export const unreadBesideSetting = (reason: Problem): Problem => ({
  kind: 'unread-beside-setting',
  message: `${reason.message ?? reason.kind}, and api.pagination is none`,
  hint: (front) => `if it does: ${front.quoted(front.set('api.pagination', 'auto'))}`,
});
