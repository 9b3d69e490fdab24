import { pipeline } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { extraHeadersOf, secretsIn } from '../../config/extra-headers.ts';
import { withoutSecrets, type Secret } from '../../secret.ts';
import { formatDuration } from '../../time/time-text.ts';
import type { HttpAnswer, HttpRequest } from '../../http/client/http-client.ts';
import { answerError } from '../problems.ts';
import { errorAnswer, failureInAnswer, requestIdIn } from './failures.ts';
import { networkFailure, rateLimited, type TransientError } from './retry.ts';
import type { Service } from './service.ts';
import type { LeadsError } from '../../errors.ts';
import type { Json } from '../../json/exact.ts';

/** One request to the account's origin. */
export interface Call {
  readonly method: HttpRequest['method'];
  readonly url: URL;
  /** Beside the key and those of the dialect, which they go before; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/** An answer of any status, whose body is still to come: as it was sent, a `Content-Encoding` undone. */
export interface Response extends HttpAnswer {
  readonly url: URL;
  /** Takes the API key that was sent, and other secrets, out of a text of the answer. */
  readonly redact: (text: string) => string;
  /** The same for a body of the answer. */
  readonly redactBody: (body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => AsyncIterable<Uint8Array>;
}

/**
 * Sends a request once the rate limit allows it, with the account's key. Follows no redirect. Throws a `TransientError` where
 * another attempt may get an answer.
 */
export async function exchange(service: Service, call: Call, signal: AbortSignal): Promise<Response> {
  await passGate(service, signal);
  const { messages, clock } = service;
  const { apiKey: key } = service.account;
  const startedAt = clock.steady();
  const { method, url } = call;
  const answer = await send(service, call, key, signal);
  const { status, headers, body } = answer;
  const took = formatDuration(clock.steady() - startedAt);
  const secrets = [key, ...secretsIn(extraHeadersOf(service.dialect))];
  messages.verbose(redact(`${method} ${url.pathname}${url.search} → ${status} in ${took}`, secrets));
  return {
    ...answer,
    url,
    body: { [Symbol.asyncIterator]: () => awaited(decoded(body, headers['content-encoding']), messages) },
    redact: (text) => redact(text, secrets),
    redactBody: (bytes) => redactBody(bytes, secrets),
  };
}

async function passGate({ rateGate, messages }: Service, signal: AbortSignal): Promise<void> {
  const { waitMs: ms } = rateGate;
  if (ms > 0) await messages.waiting({ ms, why: rateLimited }, () => rateGate.pass(signal));
}

async function send(
  service: Service,
  { method, url, headers, body }: Call,
  key: Secret,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const heard = service.messages.asking();
  try {
    return await service.http.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: {
        accept: 'application/json',
        ...extraHeadersOf(service.dialect),
        ...headers,
        authorization: `Bearer ${key.reveal()}`,
        'user-agent': `leads/${LEADS_VERSION}`,
      },
      body,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw networkFailure(error, url.origin);
  } finally {
    heard();
  }
}

/** The same bytes; while the next ones are awaited, that shows. */
async function* awaited(
  body: AsyncIterable<Uint8Array>,
  messages: Service['messages'],
): AsyncGenerator<Uint8Array, void, undefined> {
  let heard = messages.asking();
  try {
    for await (const chunk of body) {
      heard();
      yield chunk;
      heard = messages.asking();
    }
  } finally {
    heard();
  }
}

/** No request asks for a compressed body, but a server may send one anyway. */
function decoded(body: HttpAnswer['body'], coding: string | undefined): HttpAnswer['body'] {
  const name = coding?.trim().toLowerCase() ?? 'identity';
  if (name === '' || name === 'identity') return body;
  if (!['gzip', 'x-gzip', 'deflate', 'br'].includes(name)) {
    throw answerError({ kind: 'unknown-encoding', name });
  }
  const decoder = name === 'br' ? createBrotliDecompress() : createUnzip();
  // Whoever reads gets the error.
  return pipeline(body, decoder, () => undefined);
}

/** Text from the service without the key and what else is secret: a service may quote the key that it rejects. */
const redact = (text: string, secrets: readonly Secret[]): string =>
  secrets.reduce((rest, secret) => withoutSecrets(rest, [secret], secret.toString()), text);

/** A body of the service without them, whatever its chunks; every other byte stays. */
async function* redactBody(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  secrets: readonly Secret[],
): AsyncGenerator<Uint8Array, void, undefined> {
  // Part of a key may stand at the end of a chunk, percent-encoded in the longest case.
  const longestPart = Math.max(...secrets.map((secret) => secret.reveal().length)) * 3 - 1;
  let held = '';
  for await (const chunk of body) {
    const text = redact(held + Buffer.from(chunk).toString('latin1'), secrets);
    held = text.slice(-longestPart);
    yield asBytes(text.slice(0, -longestPart));
  }
  yield asBytes(held);
}

/** One character a byte, but for the ellipsis that stands for a key: no byte is decoded to that. */
const asBytes = (text: string): Uint8Array =>
  Buffer.from(text.replaceAll('…', Buffer.from('…').toString('latin1')), 'latin1');

/** A success whose body is still to come: 200, 206 for a range of the list, or 204 for an empty page. */
export interface Answer extends Pick<Response, 'url' | 'status' | 'headers' | 'body'> {
  readonly requestId: string | undefined;
  /**
   * The failure that its body tells where it holds no lead: parsed, or its bytes, which may be anything. What the `first` answer
   * with leads says, too, is none.
   */
  readonly failureIn: (body: Json | Uint8Array, first?: Json) => LeadsError | TransientError | undefined;
}

const mostRedirects = 5;

/**
 * One GET with the key, redirects within the origin followed. Throws a `TransientError` for what another attempt may repair,
 * a `KeyRefusedError`, `ServiceError` or `DataError` for what it will not.
 */
export async function request(service: Service, url: URL, signal: AbortSignal): Promise<Answer> {
  let target = url;
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    const response = await exchange(service, { method: 'GET', url: target, headers: {} }, signal);
    const { status } = response;
    if ([200, 204, 206].includes(status)) {
      const failureIn: Answer['failureIn'] = (body, first) => failureInAnswer(service, response, body, first);
      return { ...response, requestId: requestIdIn(response), failureIn };
    }
    const location = status >= 300 && status < 400 ? response.headers['location'] : undefined;
    if (location === undefined) throw await errorAnswer(service, response, response.body);
    await response.discard();
    target = redirected(target, location, service.account.profile);
  }
  throw answerError({ kind: 'too-many-redirects', most: mostRedirects });
}

/** The key is for one origin: a redirect to another one is not followed (promise: never to another origin). */
function redirected(from: URL, location: string, profile: string | undefined): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to?.origin === from.origin) return to;
  throw answerError({ kind: 'redirects-elsewhere', origin: to?.origin, profile });
}
