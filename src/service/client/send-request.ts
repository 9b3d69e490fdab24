import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { extraHeadersOf, secretsIn } from '../../config/extra-headers.ts';
import { type Secret, withoutSecrets } from '../../secret.ts';
import { formatDuration } from '../../time/time-text.ts';
import { answerError } from '../problems.ts';
import { networkFailure } from './network-failure.ts';
import { rateLimited } from './retry.ts';
import type { Service } from './service.ts';

/** One request to the account's origin. */
export interface Call {
  readonly method: Dispatcher.HttpMethod;
  readonly url: URL;
  /** Beside the key and those of the dialect, which they go before; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Whether `rawHeaders` are needed as they were sent, in their order and with capital letters. */
  readonly wantsRawHeaders?: boolean;
}

/** An answer of any status, whose body is still to come. */
export interface Response {
  readonly url: URL;
  readonly status: number;
  /** The text behind the status, which a server may leave empty. */
  readonly statusText: string;
  /** As they were sent, one behind the other. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  /** Names in lower case; the first value of a header that is sent more than once, `Link` aside. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As it was sent, a `Content-Encoding` undone. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives the rest of the body up, so that its connection can be used again. */
  readonly discard: () => Promise<void>;
  /** Takes the API key that was sent, and other secrets, out of a text of the answer. */
  readonly redact: (text: string) => string;
  /** The same for a body of the answer. */
  readonly redactBody: (body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => AsyncIterable<Uint8Array>;
}

/**
 * Sends a request once the rate limit allows it, with the account's key: with another one after a 401, where the account
 * has a command that gives one. Follows no redirect. Throws a `TransientError` where another attempt may get an answer.
 */
export async function exchange(service: Service, call: Call, signal: AbortSignal): Promise<Response> {
  const { account } = service;
  await passGate(service, signal);
  const { apiKey } = account;
  const response = await sendOnce(service, call, apiKey, signal);
  if (response.status !== 401 || account.renewKey === undefined) return response;
  await response.discard();
  await account.renewKey(apiKey);
  await passGate(service, signal);
  return sendOnce(service, call, account.apiKey, signal);
}

async function sendOnce(service: Service, call: Call, key: Secret, signal: AbortSignal): Promise<Response> {
  const { messages, clock } = service;
  const startedAt = clock.now();
  const { method, url } = call;
  const { statusCode: status, statusText, headers: flat, body } = await send(service, call, key, signal);
  const took = formatDuration(clock.now() - startedAt);
  const secrets = [key, ...secretsIn(extraHeadersOf(service.dialect))];
  messages.verbose(redact(`${method} ${url.pathname}${url.search} → ${status} in ${took}`, secrets));
  const rawHeaders = inPairs(flat);
  const headers = singly(rawHeaders);
  return {
    url,
    status,
    statusText,
    rawHeaders,
    headers,
    body: { [Symbol.asyncIterator]: () => awaited(decoded(body, headers['content-encoding']), messages) },
    discard: () => body.dump(),
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
  { method, url, headers, body, wantsRawHeaders = false }: Call,
  key: Secret,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const heard = service.messages.asking();
  try {
    return await service.dispatcher.request({
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
      body: body ?? null,
      responseHeaders: wantsRawHeaders ? 'raw' : null,
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

/** Raw headers come in one list, name and value in turn. */
function inPairs(
  headers: Dispatcher.ResponseData['headers'] | readonly string[],
): (readonly [string, string])[] {
  if (Array.isArray(headers)) {
    const flat = headers as readonly string[];
    return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']);
  }
  return Object.entries(headers as Dispatcher.ResponseData['headers']).flatMap(([name, value = []]) =>
    [value].flat().map((one) => [name, one] as const),
  );
}

/** `Link` values are one list (RFC 9110, 5.3). */
function singly(pairs: Response['rawHeaders']): Record<string, string | undefined> {
  const headers: Record<string, string | undefined> = {};
  for (const [rawName, value] of pairs) {
    const name = rawName.toLowerCase();
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (before === undefined) headers[name] = value;
    else if (name === 'link') headers[name] = `${before}, ${value}`;
  }
  return headers;
}

/** No request asks for a compressed body, but a server may send one anyway. */
function decoded(
  body: Dispatcher.ResponseData['body'],
  coding: string | undefined,
): AsyncIterable<Uint8Array> {
  const name = coding?.trim().toLowerCase() ?? 'identity';
  if (name === '' || name === 'identity') return body as AsyncIterable<Uint8Array>;
  if (!['gzip', 'x-gzip', 'deflate', 'br'].includes(name)) {
    throw answerError({ kind: 'unknown-encoding', name });
  }
  const decoder = name === 'br' ? createBrotliDecompress() : createUnzip();
  body.on('error', (error: Error) => decoder.destroy(error));
  return body.pipe(decoder) as AsyncIterable<Uint8Array>;
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
