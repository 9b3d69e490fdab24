import { pipeline } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { extraHeadersOf, secretsIn } from '../../config/extra-headers.ts';
import { withoutSecrets, type Secret } from '../../secret.ts';
import { formatDuration } from '../../time/time-text.ts';
import type { HttpAnswer, HttpRequest } from '../../http/client/http-client.ts';
import { DataError, type LeadsError } from '../../errors.ts';
import { type Hint, loginCommand } from '../../front.ts';
import { errorByStatus, errorInSuccess, requestIdIn } from './failures.ts';
import { networkFailure, type TransientError } from './network-failure.ts';
import { rateLimited } from './retry.ts';
import type { Service } from './service.ts';
import type { Json } from '../../json/exact.ts';

export interface Call {
  readonly method: HttpRequest['method'];
  readonly url: URL;
  /** Sent in place of the dialect's headers of the same name, but never of the key; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/** An answer of any status, whose body is still to come: as it was sent, a `Content-Encoding` undone. */
export interface ServiceResponse extends HttpAnswer {
  readonly url: URL;
  /** Takes the API key that was sent, and other secrets, out of a text of the answer. */
  readonly redact: (text: string) => string;
  readonly redactBody: (body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => AsyncIterable<Uint8Array>;
}

/**
 * Sends a request once the rate limit allows it, with the account's key. Follows no redirect. Throws a `TransientError` where
 * the same request may get an answer later.
 */
export async function exchange(service: Service, call: Call, signal: AbortSignal): Promise<ServiceResponse> {
  const { messages, clock, rateGate, account } = service;
  const { method, url } = call;
  const { waitMs: ms } = rateGate;
  if (ms > 0) await messages.showWait({ ms, why: rateLimited }, () => rateGate.pass(signal));
  const startedAt = clock.steady();
  const answer = await send(service, call, signal);
  const { status, headers, body } = answer;
  const took = formatDuration(clock.steady() - startedAt);
  const secrets = [account.apiKey, ...secretsIn(extraHeadersOf(service.dialect))];
  messages.verbose(redact(`${method} ${url.pathname}${url.search} → ${status} in ${took}`, secrets));
  return {
    ...answer,
    url,
    body: { [Symbol.asyncIterator]: () => awaited(decoded(body, headers['content-encoding']), messages) },
    redact: (text) => redact(text, secrets),
    redactBody: (bytes) => redactBody(bytes, secrets),
  };
}

async function send(
  { messages, http, dialect, account }: Service,
  { method, url, headers, body }: Call,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const endWaiting = messages.showRequest();
  try {
    return await http.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: {
        accept: 'application/json',
        ...extraHeadersOf(dialect),
        ...headers,
        authorization: `Bearer ${account.apiKey.reveal()}`,
        'user-agent': `leads/${LEADS_VERSION}`,
      },
      body,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw networkFailure(error, url.origin);
  } finally {
    endWaiting();
  }
}

async function* awaited(
  body: AsyncIterable<Uint8Array>,
  messages: Service['messages'],
): AsyncGenerator<Uint8Array, void, undefined> {
  let endWaiting = messages.showRequest();
  try {
    for await (const chunk of body) {
      endWaiting();
      yield chunk;
      endWaiting = messages.showRequest();
    }
  } finally {
    endWaiting();
  }
}

/** No request asks for a compressed body, but a server may send one anyway. */
function decoded(body: HttpAnswer['body'], coding: string | undefined): HttpAnswer['body'] {
  const name = coding?.trim().toLowerCase() ?? 'identity';
  if (name === '' || name === 'identity') return body;
  if (!['gzip', 'x-gzip', 'deflate', 'br'].includes(name))
    throw new DataError(`the service encodes its answer as '${name}'`);
  const decoder = name === 'br' ? createBrotliDecompress() : createUnzip();
  return pipeline(body, decoder, () => undefined);
}

/** Text from the service without the key and what else is secret: a service may quote the key that it rejects. */
const redact = (text: string, secrets: readonly Secret[]): string =>
  secrets.reduce((safe, secret) => withoutSecrets(safe, [secret], secret.toString()), text);

/**
 * Reads bytes as Latin-1, in which each byte is one character. Secrets are found all the same: a key and the value of a header are
 * ASCII, as settings and client options check.
 */
async function* redactBody(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  secrets: readonly Secret[],
): AsyncGenerator<Uint8Array, void, undefined> {
  // A chunk may end with all but the last byte of a secret, of which percent-encoding makes three bytes each.
  const longestPart = Math.max(...secrets.map((secret) => secret.reveal().length)) * 3 - 1;
  let end = '';
  for await (const chunk of body) {
    const text = redact(end + Buffer.from(chunk).toString('latin1'), secrets);
    end = text.slice(-longestPart);
    yield latin1Bytes(text.slice(0, -longestPart));
  }
  yield latin1Bytes(end);
}

/** The ellipsis that stands for a secret is not in Latin-1, and is sent in UTF-8. */
const latin1Bytes = (text: string): Uint8Array =>
  Buffer.from(text.replaceAll('…', Buffer.from('…').toString('latin1')), 'latin1');

/** A success whose body is still to come: 200, 206 for a range of the list, or 204 for an empty page. */
export interface ListResponse extends Pick<ServiceResponse, 'url' | 'status' | 'headers' | 'body'> {
  readonly requestId: string | undefined;
  /** The error of a failure that its body tells where it holds no lead; `firstPage` is the `first` of `errorInSuccess`. */
  readonly errorIn: (body: Json | Uint8Array, firstPage?: Json) => LeadsError | TransientError | undefined;
}

const mostRedirects = 5;

/**
 * Sends a GET with the key, and follows redirects within the origin. Throws a `TransientError` for what the same request may not
 * meet later, a `KeyRejectedError`, `ServiceError` or `DataError` for what it will.
 */
export async function request(service: Service, url: URL, signal: AbortSignal): Promise<ListResponse> {
  let target = url;
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    const response = await exchange(service, { method: 'GET', url: target, headers: {} }, signal);
    const { status, headers, redact } = response;
    if ([200, 204, 206].includes(status))
      return {
        ...response,
        requestId: requestIdIn(headers, redact),
        errorIn: (body, firstPage) => errorInSuccess(service, response, body, firstPage),
      };
    const location = status >= 300 && status < 400 ? headers['location'] : undefined;
    if (location === undefined)
      throw await errorByStatus(service, response, response.body, hintOf(status, target, service));
    await response.discard();
    const to = URL.canParse(location, target.href) ? new URL(location, target) : undefined;
    if (to?.origin !== target.origin) throw redirectsElsewhere(to?.origin, service.account.profile);
    target = to;
  }
  throw new DataError(`the service redirects more than ${mostRedirects} times`);
}

function hintOf(status: number, { pathname }: URL, { account }: Service): Hint | undefined {
  if (status !== 404 && status !== 405) return undefined;
  const [, repeated = ''] = /(\/.+)\1(?=\/|$)/.exec(pathname) ?? [];
  if (repeated !== '' && account.baseUrl.pathname.includes(repeated))
    return `leave ${repeated} out of the base URL: it stands in the path of the list too`;
  return (front) => `the list operation may have another path: ${front.set('api.path', '/…')}`;
}

const redirectsElsewhere = (origin: string | undefined, profile: string | undefined) =>
  new DataError(`the service redirects to ${origin ?? 'no proper URL'}, another origin`, {
    hint: (front) =>
      origin === undefined
        ? undefined
        : `the API key is not sent there; if that is the service: ${front.otherBaseUrl(origin, loginCommand(profile, origin))}`,
  });
